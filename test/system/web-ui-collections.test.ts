import { expect, it } from 'vitest'
import { askOn, goTo, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { listDocuments } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

const browser = useBrowser()

const countDocuments = async (...request: Parameters<typeof listDocuments>) =>
  (await listDocuments(...request)).documents.length

it.skipIf(!hasBrowser)(
  'Collections are chosen where documents are added, searched and asked about (needs Chromium)',
  async () => {
    const server = await startServer()
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const paste = async (title: string, text: string, collection: string) => {
      await press(page, 'Paste text')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Title').fill(title)
      await dialog.getByLabel('Text', { exact: true }).fill(text)
      await dialog.getByLabel('Add to collection').fill(collection)
      await dialog.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('link', { name: title }).waitFor()
      await expect.poll(() => countDocuments(server, `?status=ready&title=${title}`)).toBe(1)
    }
    await paste('Owls', 'Owls hunt at night in the woods.', 'birds')
    await paste('Bats', 'Bats hunt at night in the caves.', 'mammals')

    await page.getByLabel('Add to collection').fill('mammals')
    const chooser = page.waitForEvent('filechooser')
    await press(page, 'Add files')
    const buffer = Buffer.from('Foxes hunt at night in the fields.')
    await (await chooser).setFiles([{ name: 'foxes.txt', mimeType: 'text/plain', buffer }])
    await page.getByRole('link', { name: 'foxes.txt' }).waitFor()
    await expect.poll(() => countDocuments(server, '?status=ready&collection=mammals')).toBe(2)

    await goTo(page, 'Search')
    const chosen = page.getByRole('combobox', { name: 'Collection', exact: true })
    await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
    await chosen.selectOption('birds')
    await page.getByLabel('Question', { exact: true }).fill('hunt at night')
    await page.keyboard.press('Enter')
    await page.getByText(/^1 found in/).waitFor()

    await goTo(page, 'Chat')
    await page.getByRole('heading', { name: 'Chat', level: 1 }).waitFor()
    expect(await chosen.inputValue()).toBe('birds')
    await chosen.selectOption('mammals')
    await askOn(page, 'What hunts at night?')
    await page.getByText(/^\d+ sources? cited$/).waitFor()
    const answer = await page.locator('.answer').innerText()
    expect(answer).toMatch(/Bats|Foxes/)
    expect(answer).not.toContain('Owls')

    await goTo(page, 'Collections')
    await page.getByText('2 documents').waitFor()
    await page.getByRole('button', { name: 'Rename mammals' }).click()
    await page.getByLabel('Name', { exact: true }).fill('animals')
    await press(page, 'Rename')
    await page.getByRole('link', { name: 'animals' }).waitFor()
    expect(await countDocuments(server, '?collection=animals')).toBe(2)
    await page.getByRole('button', { name: 'Delete birds' }).click()
    await page.getByRole('heading', { name: 'Delete 1 document of birds?' }).waitFor()
    await press(page, 'Delete all')
    await page.getByRole('link', { name: 'birds' }).waitFor({ state: 'detached' })
    expect(await countDocuments(server, '?collection=birds')).toBe(0)

    // One that people share keeps its readers under the new name, and goes with its documents.
    const handbook = { name: 'handbook', access: ['group:staff'] }
    await server.request('/collections', { body: handbook })
    await server.ingest({ title: 'Leave', text: 'Thirty days.', collection: 'handbook' })
    await page.reload()
    await page.getByRole('button', { name: 'Rename handbook' }).click()
    await page.getByLabel('Name', { exact: true }).fill('rules')
    await press(page, 'Rename')
    await page.getByRole('link', { name: 'rules' }).waitFor()
    await page.getByRole('link', { name: 'handbook' }).waitFor({ state: 'detached' })
    const rules = await (await server.request('/collections/rules')).json()
    expect(rules).toMatchObject({ documents: 1, access: ['group:staff'] })
    await page.getByRole('button', { name: 'Delete rules' }).click()
    await press(page, 'Delete all')
    await page.getByRole('link', { name: 'rules' }).waitFor({ state: 'detached' })
    expect((await server.request('/collections/rules')).status).toBe(404)

    await page.getByRole('button', { name: 'Ask about animals' }).click()
    await page.getByRole('heading', { name: 'Chat', level: 1 }).waitFor()
    expect(await chosen.inputValue()).toBe('animals')
    // Of these, the questions are about the documents of the chosen collection.
    const suggestions = page.getByRole('list', { name: 'Suggested questions' })
    await suggestions.getByText('What does “Bats” say?').waitFor()
    expect(complaints).toEqual([])
  },
)
