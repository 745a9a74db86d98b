import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DocumentList } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openPage,
  openWebUi,
  PAGES,
  useBrowser,
} from '../support/browser.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { launch, MAIN } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const HOURS = {
  title: 'Opening hours',
  text: 'The library opens at nine on weekdays. On Saturdays it opens at ten.',
}
const QUESTION = 'When does the library open on Saturdays?'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('A newcomer (needs Chromium)', () => {
  it('comes from the printed link to a cited answer without a terminal, and the link opens nothing twice', async () => {
    const directory = await temporaryDirectory()
    const server = launch({
      directory,
      command: [process.execPath, MAIN],
      environment: { PORT: '0' },
    })
    const link = (await server.said(/#token=/)).trim()
    const { page, complaints } = await openPage(browser, new URL(link).origin)
    await page.goto(link)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain('token')

    await page.getByRole('link', { name: 'Add documents' }).click()
    await page.getByRole('button', { name: 'Paste text' }).click()
    await page.getByLabel('Title', { exact: true }).fill(HOURS.title)
    await page.getByLabel('Text', { exact: true }).fill(HOURS.text)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: 'Ready' }).waitFor()

    await goTo(page, 'Chat')
    await askOn(page, QUESTION)
    await page.getByRole('button', { name: 'Source 1' }).click()
    const passage = page.getByRole('complementary', { name: HOURS.title })
    expect(await passage.locator('mark').innerText()).toContain('On Saturdays it opens at ten.')
    await page.keyboard.press('Escape')
    await page.reload()
    await page.locator('.turns').getByText(QUESTION).waitFor()
    expect(complaints).toEqual([])

    const second = await openPage(browser, new URL(link).origin)
    await second.page.goto(link)
    await second.page.getByText('This link was already used').waitFor()
    const key = /^SERVER_API_KEY=(.+)$/m.exec(await readFile(join(directory, '.env'), 'utf8'))?.[1]
    await second.page.getByLabel('Server key').fill(key ?? '')
    await second.page.getByRole('button', { name: 'Sign in' }).click()
    await second.page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('shows what is wrong with a key, or that the server is gone', async () => {
    const server = await startServer()
    const { page } = await openPage(browser, server.url)
    await page.goto(server.url)
    await page.getByLabel('Server key').fill('a-key-that-is-wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'The key is invalid' }).waitFor()
    await server.close()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'does not respond' }).waitFor()
  })
})

describe.skipIf(!hasBrowser)('The overview (needs Chromium)', () => {
  it('shows the endpoint, the key on demand, and signs out for good', async () => {
    const { url } = await startServer()
    const { page, complaints } = await openWebUi(browser, url)
    const access = page.getByRole('region', { name: 'Access' })
    expect(await access.innerText()).toContain(url)
    expect(await page.content()).not.toContain(TEST_KEY)
    await access.getByRole('button', { name: 'Show server key' }).click()
    await access.getByText(TEST_KEY).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Server key').waitFor()
    await page.reload()
    await page.getByLabel('Server key').waitFor()
    expect(complaints).toEqual([])
  })

  it('names what does not work, with the remedy', async () => {
    const { url } = await startServer({
      RERANK_MODEL: 'none',
      RERANK_BASE_URL: 'http://127.0.0.1:9',
      RERANK_API_KEY: 'x',
    })
    const { page } = await openWebUi(browser, url)
    const works = page.getByRole('region', { name: 'Needs attention' })
    const failing = works.getByRole('listitem').filter({ hasText: 'Reranking model' })
    await expect.poll(() => failing.innerText()).toMatch(/Fails[\s\S]*Check RERANK_BASE_URL/)
    await page.getByText('Running, degraded').waitFor()
  })
})

/** Bytes a second, so that a file of 600 kB takes more than a second. */
const SLOW = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 400_000 }
/** Keeps what each bar has shown. */
const WATCH_PROGRESS = `window.progressSeen = {}
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.ariaLabel) (window.progressSeen[target.ariaLabel] ??= []).push(target.value)
  }
}).observe(document.body, { subtree: true, attributeFilter: ['value'] })`

describe.skipIf(!hasBrowser)('Documents (needs Chromium)', () => {
  const file = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) })

  it('takes files, shows which failed and why, and deletes after a confirmation', async () => {
    const { url } = await startServer()
    const { page, complaints } = await openWebUi(browser, url, 'documents')
    await page.getByText('No documents yet').waitFor()
    await page
      .getByLabel('Add files')
      .last()
      .setInputFiles([file('hours.txt', HOURS.text), file('empty.txt', '')])
    const panel = page.getByRole('region', { name: '1 file sent' })
    await panel.getByText('1 file failed').waitFor()
    expect(await panel.getByRole('listitem').innerText()).toBe(
      'empty.txt\nThe file must not be empty',
    )
    const row = page.getByRole('listitem').filter({ hasText: 'hours.txt' })
    await row.getByText('Ready').waitFor()
    await panel.getByRole('button', { name: 'Clear' }).click()

    await row.getByRole('link', { name: 'hours.txt' }).click()
    await page.getByRole('heading', { name: 'Passages' }).waitFor()
    await page.getByText('On Saturdays it opens at ten.').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download original' }).click()
    expect(await readFile(await (await download).path(), 'utf8')).toBe(HOURS.text)

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No documents yet').waitFor()
    // A browser tells of every refusal in its console.
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  it('counts a text that was pasted, and shows soon that it is ready', async () => {
    const { url } = await startServer()
    const { page } = await openWebUi(browser, url, 'documents')
    await page.getByText('No documents yet').waitFor()
    // The list has asked once, and would ask again in 15 s of itself.
    await page.getByText('All 0').waitFor()
    await page.getByRole('button', { name: 'Paste text' }).click()
    await page.getByLabel('Text', { exact: true }).fill(`# When we open\n\n${HOURS.text}`)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const soon = { timeout: 10_000 }
    await page.getByRole('listitem').filter({ hasText: 'Ready' }).waitFor(soon)
    await page.getByText('Ready 1').waitFor(soon)
    // It has no title, and is called by its first line.
    await page.getByRole('link', { name: 'When we open', exact: true }).waitFor()
  })

  it('takes folders that are dropped or chosen, with their progress, and lists what failed', async () => {
    const server = await startServer()
    const { page, context } = await openWebUi(browser, server.url, 'documents')
    await page.getByText('No documents yet').waitFor()
    const folder = join(await temporaryDirectory(), 'shelf')
    await mkdir(join(folder, 'deep'), { recursive: true })
    await writeFile(join(folder, 'deep', 'hours.txt'), HOURS.text)
    await writeFile(join(folder, 'empty.txt'), '')
    await writeFile(join(folder, 'sound.wav'), Buffer.alloc(100))
    await writeFile(join(folder, '.DS_Store'), 'of the system')
    const single = join(folder, '..', 'rules.txt')
    await writeFile(single, 'Be quiet.')

    const session = await context.newCDPSession(page)
    const data = { items: [], files: [folder, single], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await session.send('Input.dispatchDragEvent', { type, x: 200, y: 300, data })
      if (type === 'dragOver') await page.getByText('Drop to add').waitFor()
    }
    const panel = page.getByRole('region', { name: '3 files sent' })
    await panel.getByText('1 file failed').waitFor()
    expect(await panel.getByRole('listitem').allInnerTexts()).toEqual([
      'shelf/empty.txt\nThe file must not be empty',
    ])
    // What the server finds out later stands in the list, with its reason.
    const unread = page.getByRole('listitem').filter({ hasText: 'sound.wav' })
    await unread.getByText('Files of this type are not read').waitFor()
    await panel.getByRole('button', { name: 'Clear' }).click()

    await writeFile(join(folder, 'large.txt'), Buffer.alloc(600_000, 'Owls hoot at night. '))
    await page.evaluate(WATCH_PROGRESS)
    await session.send('Network.emulateNetworkConditions', SLOW)
    await page.getByLabel('Add folder').last().setInputFiles(folder)
    await page.getByRole('region', { name: '3 files sent' }).waitFor({ timeout: 60_000 })
    const steps = await page.evaluate<Record<string, number[]>>('window.progressSeen')
    const between = steps['Sent of shelf/large.txt']?.filter((sent) => sent > 0 && sent < 600_000)
    expect(between?.length).toBeGreaterThan(1)
    expect(between).toEqual(between?.toSorted((one, other) => one - other))
    const { documents } = DocumentList.parse(await (await server.request('/documents')).json())
    expect(documents.map(({ title, metadata }) => metadata?.path ?? title).toSorted()).toEqual([
      'rules.txt',
      'shelf/deep/hours.txt',
      'shelf/deep/hours.txt',
      'shelf/large.txt',
      'shelf/sound.wav',
      'shelf/sound.wav',
    ])
  })

  it('keeps what could not be sent when the server went away, and sends it again', async () => {
    const { url } = await startServer()
    const { page } = await openWebUi(browser, url, 'documents')
    await page.route('**/ui/api/documents', (route) =>
      route.request().method() === 'POST' ? route.abort('connectionreset') : route.continue(),
    )
    await page.getByLabel('Add files').last().setInputFiles(file('hours.txt', HOURS.text))
    await page.getByText('Sending 1 file').waitFor()
    await page.getByRole('button', { name: 'Cancel all' }).click()
    await page.getByText('0 files sent, 1 cancelled').waitFor()
    await page.unrouteAll()
    await page.getByLabel('Add files').last().setInputFiles(file('hours.txt', HOURS.text))
    await page.getByRole('listitem').filter({ hasText: 'Ready' }).waitFor()
  })

  it('scrolls through thousands, of which it draws a few', async () => {
    const server = await startServer()
    const documents = Array.from({ length: 1_000 }, (_, index) => ({
      title: `Note ${index}`,
      text: 'x',
    }))
    for (const part of [documents.slice(0, 500), documents.slice(500)]) {
      await server.request('/documents/batch', { body: part })
    }
    const { page } = await openWebUi(browser, server.url, 'documents')
    await page.getByRole('link', { name: 'Note 999' }).waitFor()
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, 20_000)
          return page.getByRole('link', { name: 'Note 0', exact: true }).isVisible()
        },
        { timeout: 60_000 },
      )
      .toBe(true)
    expect(
      await page.getByRole('list', { name: 'Documents' }).getByRole('listitem').count(),
    ).toBeLessThan(100)
  })
})

describe.skipIf(!hasBrowser)('Search (needs Chromium)', () => {
  it('shows what /query finds, compares two settings, and opens a passage where it stands', async () => {
    const server = await startServer()
    await server.ingest(HOURS)
    await server.ingest({
      title: 'Rules',
      text: 'Books of the library may be kept for four weeks.',
    })
    const { page, complaints } = await openWebUi(browser, server.url, 'search')
    await page.getByLabel('Question', { exact: true }).fill(QUESTION)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText(/^2 found in/).waitFor()
    await page.getByLabel('Compare two settings').check()
    const second = page.getByRole('region', { name: 'Second setting' })
    await second.getByLabel('Passages (topK)').fill('1')
    await page.getByRole('button', { name: 'Search' }).click()
    await second.getByText(/^1 found in/).waitFor()
    await page
      .getByRole('region', { name: 'First setting' })
      .getByText('Only in this setting')
      .waitFor()
    await second.getByLabel('Filter').fill('{"field": ')
    await page.getByRole('button', { name: 'Search' }).click()
    await second.getByText('The filter is not valid JSON').waitFor()
    await page.getByRole('button', { name: 'In context of hit 1' }).first().click()
    await page.getByRole('dialog', { name: HOURS.title }).waitFor()
    expect(complaints).toEqual([])
  })
})

const SMALL_FIELDS = `Array.from(document.querySelectorAll('input, select, textarea'))
  .filter((field) => !['checkbox', 'radio', 'file'].includes(field.type))
  .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16)
  .map(({ outerHTML }) => outerHTML.slice(0, 100))`

describe.skipIf(!hasBrowser)('For everybody (needs Chromium)', () => {
  it.each(['light', 'dark'] as const)(
    'axe finds nothing wrong on any page, %s',
    async (colorScheme) => {
      const server = await startServer()
      const id = await server.ingest(HOURS)
      const { page } = await openWebUi(browser, server.url, 'overview', { colorScheme })
      await page.getByRole('region', { name: 'What works' }).waitFor()
      await expectAccessible(page)
      for (const path of PAGES.slice(1)) {
        await page.goto(`${server.url}/#/${path}`)
        if (path === 'documents')
          await page.getByRole('listitem').filter({ hasText: 'Ready' }).waitFor()
        if (path === 'search') {
          await page.getByLabel('Question', { exact: true }).fill(QUESTION)
          await page.keyboard.press('Enter')
          await page.getByText(/found in/).waitFor()
        }
        if (path === 'chat') {
          await askOn(page, QUESTION)
          await page.getByRole('button', { name: 'Source 1' }).waitFor()
        }
        await expectAccessible(page)
      }
      await page.getByRole('button', { name: 'Source 1' }).click()
      await expectAccessible(page)
      await page.goto(`${server.url}/#/documents/${id}`)
      await page.getByRole('heading', { name: 'Passages' }).waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Server key').waitFor()
      await expectAccessible(page)
    },
  )

  it('shows no page that is wider than a small telephone', async () => {
    const { url } = await startServer()
    const { page } = await openWebUi(browser, url, 'overview', {
      viewport: { width: 360, height: 740 },
    })
    for (const path of PAGES) {
      await page.goto(`${url}/#/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth'),
        path,
      ).toBeLessThanOrEqual(360)
      // Telephones zoom into fields with smaller letters.
      expect(await page.evaluate<string[]>(SMALL_FIELDS), path).toEqual([])
    }
  })

  it('follows the keyboard alone from signing in to an answer', async () => {
    const server = await startServer()
    await server.ingest(HOURS)
    const { page } = await openPage(browser, server.url)
    await page.goto(server.url)
    await page.getByLabel('Server key').waitFor()
    await page.keyboard.type(TEST_KEY)
    await page.keyboard.press('Enter')
    const chat = page.getByRole('navigation').getByRole('link', { name: 'Chat' })
    await chat.waitFor()
    await expect
      .poll(async () => {
        await page.keyboard.press('Tab')
        return chat.evaluate((link) => link.matches(':focus'))
      })
      .toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Chat' }).waitFor()
    await page.keyboard.type(QUESTION)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Source 1' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: HOURS.title }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: HOURS.title }).waitFor({ state: 'detached' })
  })
})
