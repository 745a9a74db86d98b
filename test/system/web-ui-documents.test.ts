import { readFile } from 'node:fs/promises'
import { Document, DocumentList } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { fixture, sendFile } from '../support/forms.ts'
import { startServer, type TestServer } from '../support/server.ts'

const browser = useBrowser()

/** 120 notes: more than one page of the list. */
async function addNotes(server: TestServer): Promise<void> {
  const notes = Array.from({ length: 120 }, (_, index) => ({
    title: `Note ${String(index).padStart(3, '0')}`,
    text: `This is note ${index}.`,
    metadata: { year: index % 2 === 0 ? 2025 : 2026 },
  }))
  await server.request('/documents/batch', { body: notes })
  await expect.poll(() => countOf(server, 'status=ready'), { timeout: 30_000 }).toBe(120)
}

async function countOf(server: TestServer, query: string): Promise<number | undefined> {
  const answer = await server.request(`/documents?total=true&limit=1&${query}`)
  return DocumentList.parse(await answer.json()).total
}

const notes = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({
    name: `note-${first + index}.txt`,
    mimeType: '',
    buffer: Buffer.from(`Owl ${first + index}`),
  }))

describe.skipIf(!hasBrowser)('The documents as a table (needs Chromium)', () => {
  it('is filtered and sorted by its address, and Back finds filter and place again', async () => {
    const server = await startServer()
    await addNotes(server)
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    await page.getByRole('link', { name: 'Note 119' }).waitFor()
    await page.getByLabel('Metadata').fill('year = 2026')
    await page.getByRole('link', { name: 'Note 118' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Sort by title' }).click()
    await page.getByRole('link', { name: 'Note 001' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/documents?metadata=year+%3D+2026&sort=title')
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 500)
        return page.getByRole('link', { name: 'Note 079' }).isVisible()
      })
      .toBe(true)
    await page.getByRole('link', { name: 'Note 079' }).click()
    await page.getByRole('heading', { name: 'Content' }).waitFor()
    await page.locator('.document-text').waitFor()
    await page.getByRole('heading', { name: 'Passages (1)' }).click()
    await page.locator('.chunks li').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Note 079' }).waitFor()
    await expect.poll(() => page.evaluate<number>('window.scrollY')).toBeGreaterThan(300)
    expect(await page.getByLabel('Metadata').inputValue()).toBe('year = 2026')
    await page.reload()
    await page.getByRole('link', { name: 'Note 001' }).waitFor()
    await page.getByLabel('Metadata').fill('year')
    await page.getByText('type a field and its value').waitFor()
    expect(complaints).toEqual([])
  })

  it('moves, exports and deletes many at once', async () => {
    const server = await startServer()
    await addNotes(server)
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    await page.getByLabel('Select Note 119').check()
    await page.getByLabel('Select Note 117').check()
    await page.getByText('2 selected').waitFor()
    await press(page, 'Move to collection')
    await page.getByRole('dialog').getByLabel('Collection').fill('archive')
    await press(page, 'Move')
    await expect.poll(() => countOf(server, 'collection=archive')).toBe(2)
    const download = page.waitForEvent('download')
    await press(page, 'Export')
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n')
    const exported = lines
      .map((line) => JSON.parse(line))
      .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    expect(exported).toMatchObject([
      { title: 'Note 117', text: 'This is note 117.', metadata: { collection: 'archive' } },
      { title: 'Note 119', text: 'This is note 119.' },
    ])
    const again = await server.request('/documents/batch', { body: exported })
    expect(again.status).toBe(202)
    await page.getByRole('combobox', { name: 'Collection', exact: true }).selectOption('archive')
    await page.getByRole('link', { name: 'Note 118' }).waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Collection', exact: true }).selectOption('')
    await page.getByRole('link', { name: 'Note 118' }).waitFor()
    await page.getByLabel('Select the documents shown').check()
    await press(page, 'Select all 120')
    await page.getByText('120 selected').waitFor()
    await press(page, 'Delete')
    await expectAccessible(page)
    await press(page, 'Delete 120')
    await page.getByText('No documents yet').waitFor()
    expect(await countOf(server, '')).toBe(0)
    expect(complaints).toEqual([])
  })

  it('folds its filters on a telephone until they are wanted', async () => {
    const server = await startServer()
    await server.ingest({ title: 'Owls', text: 'Owls hoot.' })
    await server.ingest({ title: 'Larks', text: 'Larks sing.' })
    const viewport = { width: 390, height: 844 }
    const { page } = await openWebUi(browser, server.url, 'documents', { viewport })
    await page.getByRole('link', { name: 'Owls' }).waitFor()
    expect(await page.getByLabel('Title contains').isVisible()).toBe(false)
    await press(page, 'Filter')
    await page.getByLabel('Title contains').fill('lark')
    await page.getByRole('link', { name: 'Owls' }).waitFor({ state: 'detached' })
    await expectAccessible(page)
  })

  it('offers Retry only where another attempt can help', async () => {
    const server = await startServer()
    const { page } = await openWebUi(browser, server.url, 'documents')
    const sound = { name: 'sound.wav', mimeType: '', buffer: Buffer.alloc(100) }
    await page.getByLabel('Add files').last().setInputFiles(sound)
    const row = page.getByRole('listitem').filter({ hasText: 'sound.wav' })
    await row.getByText('Failed').waitFor()
    expect(await row.getByRole('button', { name: 'Retry' }).count()).toBe(0)
    await page.getByLabel('Failed').check()
    await page.getByText('1 document not retried').waitFor()
    expect(await page.getByRole('button', { name: 'Retry all failed' }).count()).toBe(0)
  })

  it('renames, replaces the file and edits metadata of a document', async () => {
    const server = await startServer()
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    })
    await page.getByLabel('Add files').last().setInputFiles(file('hours.txt', 'Open at nine.'))
    await page.getByRole('link', { name: 'hours.txt' }).click()
    await page.getByText('Open at nine.').waitFor()
    await page.getByText('Ready').waitFor()
    await press(page, 'Edit')
    await page.getByLabel('Title').fill('Opening hours')
    await page.getByLabel('Field 1', { exact: true }).fill('year')
    await page.getByLabel('Value of year').fill('2026')
    await expectAccessible(page)
    await press(page, 'Save')
    await page.getByRole('heading', { name: 'Opening hours' }).waitFor()
    await page.getByLabel('Replace file').last().setInputFiles(file('new.txt', 'Open at ten.'))
    await page.getByText('Open at ten.').waitFor()
    await page.getByText('new.txt').waitFor()
    const { documents } = DocumentList.parse(await (await server.request('/documents')).json())
    expect(documents).toMatchObject([
      { title: 'Opening hours', metadata: { year: 2026 }, revision: 3 },
    ])
    await press(page, 'Edit')
    await page.getByLabel('Field 1', { exact: true }).fill('')
    await press(page, 'Save')
    await page.getByLabel('Field 1', { exact: true }).waitFor({ state: 'detached' })
    const after = DocumentList.parse(await (await server.request('/documents')).json())
    expect(after.documents[0]?.metadata).toEqual({})
    expect(complaints).toEqual([])
  })

  it('shows the columns that were chosen, metadata among them, and filters by type', async () => {
    const server = await startServer()
    await sendFile(server, {
      name: 'owls.pdf',
      bytes: fixture('owls.pdf'),
      before: { metadata: '{"year": 2026}' },
    })
    await server.ingest({ title: 'Herons', text: 'Herons wait.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const row = page.getByRole('listitem').filter({ hasText: 'owls.pdf' })
    await row.getByText('PDF', { exact: true }).waitFor()
    await page.getByText('Columns').first().click()
    await page.getByRole('checkbox', { name: 'Characters' }).uncheck()
    await page.getByRole('checkbox', { name: 'year' }).check()
    await expectAccessible(page)
    await row.getByText('2026', { exact: true }).waitFor()
    await page.reload()
    await row.getByText('2026', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Sort by characters' }).count()).toBe(0)
    await row.getByRole('button', { name: 'Edit owls.pdf' }).click()
    await page.getByLabel('Value of year').fill('2027')
    await press(page, 'Save')
    await row.getByText('2027', { exact: true }).waitFor()
    await page.getByLabel('Type').selectOption('PDF')
    await page.getByRole('link', { name: 'Herons' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('#/documents?type=application%2Fpdf')
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: 'Passages' }).waitFor()
    await page.goBack()
    await row.waitFor()
    expect(await page.getByLabel('Type').inputValue()).toBe('application/pdf')
    expect(complaints).toEqual([])
  })

  it('edits a value in the table, and overwrites nothing that it has not shown', async () => {
    const server = await startServer()
    const id = await server.ingest({ title: 'Owls', text: 'Owls hunt.', metadata: { year: 2025 } })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    await page.getByText('Columns').first().click()
    await page.getByRole('checkbox', { name: 'year' }).check()
    const metadata = async () =>
      Document.parse(await (await server.request(`/documents/${id}`)).json()).metadata
    const cell = page.getByRole('button', { name: 'Edit year of Owls' })
    const field = page.getByLabel('year of Owls', { exact: true })
    await cell.click()
    await expectAccessible(page)
    await field.fill('2026')
    await field.press('Escape')
    expect(await metadata()).toEqual({ year: 2025 })
    await cell.click()
    await field.fill('2026')
    await field.press('Enter')
    await cell.getByText('2026', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit collection of Owls' }).click()
    await page.getByLabel('collection of Owls', { exact: true }).fill('birds')
    await page.getByRole('heading', { level: 1 }).click()
    await page.getByRole('button', { name: 'Edit collection of Owls: birds' }).waitFor()
    expect(await metadata()).toEqual({ year: 2026, collection: 'birds' })
    // Somebody else changes it while it is typed.
    await cell.click()
    await field.fill('2027')
    const other = { method: 'PATCH', body: { metadata: { year: 2030, team: 'red' } } }
    await server.request(`/documents/${id}`, other)
    await field.press('Enter')
    await page.getByText('the field is now 2030').waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    expect(await metadata()).toEqual({ year: 2030, team: 'red', collection: 'birds' })
    // Escape empties the search that somebody uses meanwhile, and keeps what was typed.
    const search = page.getByRole('searchbox').first()
    await search.fill('Owls')
    await search.press('Escape')
    expect(await search.inputValue()).toBe('')
    expect(await field.inputValue()).toBe('2027')
    await field.press('Enter')
    await cell.getByText('2027', { exact: true }).waitFor()
    expect(await metadata()).toEqual({ year: 2027, team: 'red', collection: 'birds' })
    await page.getByRole('link', { name: 'Owls' }).click()
    await press(page, 'Edit')
    await page.getByLabel('Value of year').fill('2028')
    const third = { method: 'PATCH', body: { metadata: { year: 2031, team: 'blue' } } }
    await server.request(`/documents/${id}`, third)
    await press(page, 'Save')
    await page.getByText('the field is now 2031').waitFor()
    expect(await page.getByLabel('Value of year').inputValue()).toBe('2028')
    await press(page, 'Save')
    await page.getByText('2028').waitFor()
    expect(await metadata()).toEqual({ year: 2028, team: 'blue', collection: 'birds' })
    // The browser tells of the answers with 409.
    expect(complaints.filter((one) => !one.includes('409'))).toEqual([])
  })

  it('reports files that exist already, and deletes the copies', async () => {
    const server = await startServer()
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const owls = (name: string) => ({ name, mimeType: '', buffer: Buffer.from('Owls hunt.') })
    const input = page.getByLabel('Add files').last()
    await input.setInputFiles(owls('owls.txt'))
    await page.getByRole('listitem').filter({ hasText: 'Ready' }).waitFor()
    await input.setInputFiles(owls('copy.txt'))
    await page.getByText('1 file was already there').waitFor()
    await page.getByRole('link', { name: 'copy.txt', exact: true }).waitFor()
    await expectAccessible(page)
    await press(page, 'Delete the new copy')
    await page.getByRole('link', { name: 'copy.txt', exact: true }).waitFor({ state: 'detached' })
    await page.getByText('1 file was already there').waitFor({ state: 'detached' })
    await input.setInputFiles([owls('b.txt')])
    await page.getByRole('link', { name: 'Show the earlier one' }).click()
    await page.getByRole('heading', { name: 'owls.txt' }).waitFor()
    await page.goBack()
    await press(page, 'Keep both')
    await page.getByText('1 file was already there').waitFor({ state: 'detached' })
    expect(await countOf(server, '')).toBe(2)
    expect(complaints).toEqual([])
  })

  it('sends small files in batches, of which a bad one fails alone, and reads the list now and then', async () => {
    const server = await startServer()
    const { page } = await openWebUi(browser, server.url, 'documents')
    await page.getByText('No documents yet').waitFor()
    let reads = 0
    let sent = 0
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (request.method() === 'GET' && pathname === '/ui/api/documents') reads += 1
      if (request.method() === 'POST' && pathname.startsWith('/ui/api/documents')) sent += 1
    })
    const begin = Date.now()
    const empty = { name: 'empty.txt', mimeType: '', buffer: Buffer.from('') }
    const files = [...notes(30), empty, ...notes(30, 30)]
    await page.getByLabel('Add files').last().setInputFiles(files)
    await page.getByRole('region', { name: '60 files sent' }).waitFor()
    const seconds = (Date.now() - begin) / 1_000
    expect(reads).toBeLessThan(10 + 4 * seconds)
    expect(sent).toBeLessThan(20)
    await page.getByText('1 file failed').waitFor()
    await page.getByText('The file must not be empty').waitFor()
    expect(await countOf(server, '')).toBe(60)
  })

  it('sends files one by one where a proxy takes no batch, and the others of one that is cancelled', async () => {
    const server = await startServer()
    const { page } = await openWebUi(browser, server.url, 'documents')
    const held = Promise.withResolvers<void>()
    let batches = 0
    await page.route('**/documents/batch', async (route) => {
      batches += 1
      await held.promise
      await route.fulfill({ status: 413, body: 'Too large' }).catch(() => undefined)
    })
    await page.getByLabel('Add files').last().setInputFiles(notes(30))
    await page.getByRole('button', { name: 'Cancel note-0.txt' }).click()
    await page.getByRole('button', { name: 'Cancel note-0.txt' }).waitFor({ state: 'detached' })
    held.resolve()
    await page.getByRole('region', { name: '29 files sent, 1 cancelled' }).waitFor()
    expect(batches).toBeGreaterThan(0)
    expect(await countOf(server, '')).toBe(29)
  })

  it.each(['light', 'dark'] as const)(
    'is accessible and fits 390 pixels, %s',
    async (colorScheme) => {
      const server = await startServer()
      await server.ingest({ title: 'Owls', text: 'Owls hunt.', collection: 'birds' })
      const viewport = { width: 390, height: 844 }
      const { page } = await openWebUi(browser, server.url, 'documents', { colorScheme, viewport })
      await page.getByLabel('Select Owls').check()
      await expectAccessible(page)
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth'),
      ).toBeLessThanOrEqual(390)
      await page.setViewportSize({ width: 1300, height: 800 })
      await expectAccessible(page)
    },
  )
})
