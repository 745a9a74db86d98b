import { DocumentList } from '@agent-server/schemas/document.ts'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openCard, openWebUi, press, useBrowser } from '../support/browser.ts'
import { startServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

const browser = useBrowser()
const server = await startServer()
await server.ingest({ title: 'Owls', text: 'Owls hoot at night.', collection: 'birds' })

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const check = (page: Page) => page.getByLabel('Select Owls').check()

interface Case {
  dialog: string
  path: string
  /** What opens it. */
  opener: (page: Page) => Locator
  before?: (page: Page) => Promise<unknown>
}

const CASES: Case[] = [
  { dialog: 'Paste text', path: 'documents', opener: (page) => button(page, 'Paste text') },
  { dialog: 'Add from the web', path: 'documents', opener: (page) => button(page, /^Add from/) },
  { dialog: 'Edit document', path: 'documents', opener: (page) => button(page, 'Edit Owls') },
  {
    dialog: 'Delete this document?',
    path: 'documents',
    opener: (page) => button(page, 'Delete Owls'),
  },
  {
    dialog: 'Move 1 document',
    path: 'documents',
    before: check,
    opener: (page) => button(page, 'Move to collection'),
  },
  {
    dialog: 'Delete 1 document?',
    path: 'documents',
    before: check,
    opener: (page) => page.getByLabel('Selected documents').getByRole('button', { name: 'Delete' }),
  },
  {
    dialog: 'Save these changes?',
    path: 'agent',
    before: async (page) => {
      await openCard(page, 'Prompt')
      await page.getByLabel(/^Instructions for the agent/).fill('Be brief.')
    },
    opener: (page) => page.getByRole('button', { name: 'Save', exact: true, disabled: false }),
  },
  {
    dialog: 'Revoke “Website”?',
    path: 'keys',
    before: async (page) => {
      if (await button(page, 'Revoke Website').count()) return
      await page.getByLabel('Name', { exact: true }).fill('Website')
      await page.getByLabel(/^chat:/).check()
      await press(page, 'Create key')
    },
    opener: (page) => button(page, 'Revoke Website').first(),
  },
]

/** Where the focus is: in the dialog, on the page behind it, or with the browser itself. */
const PLACE = `document.activeElement === document.body ? 'browser'
  : document.activeElement.closest('dialog') ? 'dialog' : 'page'`
const STOPS = 30

describe.skipIf(!hasBrowser)('Dialogs (need Chromium)', () => {
  it.each(CASES)(
    'keep the focus, close with Escape and give it back: $dialog',
    async ({ dialog: name, path, before, opener }) => {
      const { page } = await openWebUi(browser, server.url, path)
      await before?.(page)
      const open = opener(page)
      await open.focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name })
      await dialog.waitFor()
      const places = new Set<string>([await page.evaluate<string>(PLACE)])
      const reached = new Set<string>()
      for (let stop = 0; stop < STOPS; stop += 1) {
        await page.keyboard.press(stop % 5 === 4 ? 'Shift+Tab' : 'Tab')
        places.add(await page.evaluate<string>(PLACE))
        reached.add(await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 200)'))
      }
      expect([...places]).toContain('dialog')
      expect([...places]).not.toContain('page')
      expect(reached.size).toBeGreaterThan(1)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(await open.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
      // By its own button as well.
      await page.keyboard.press('Enter')
      await dialog.getByRole('button', { name: 'Cancel' }).press('Enter')
      await dialog.waitFor({ state: 'detached' })
      expect(await open.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
    },
  )

  it('submit their form with Enter, and delete nothing by the Enter that opened them', async () => {
    const own = await startServer()
    const id = await own.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const titles = async () => {
      const response = await own.request('/documents?sort=title')
      const { documents } = DocumentList.parse(await response.json())
      return documents.map(({ title, metadata }) => [title, metadata?.collection])
    }
    const { page } = await openWebUi(browser, own.url, 'documents')
    const dialog = page.getByRole('dialog')
    await button(page, 'Edit Owls').press('Enter')
    await dialog.getByLabel('Title', { exact: true }).fill('Tawny owls')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByLabel('Select Tawny owls').check()
    await button(page, 'Move to collection').press('Enter')
    await dialog.getByRole('combobox').fill('birds')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(titles).toEqual([['Tawny owls', 'birds']])
    await button(page, 'Paste text').press('Enter')
    await dialog.getByLabel('Text', { exact: true }).fill('Herons wait.')
    await dialog.getByLabel('Title', { exact: true }).fill('Herons')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(async () => (await titles()).length).toBe(2)
    await button(page, 'Delete Tawny owls').press('Enter')
    await dialog.waitFor()
    // What has the focus first does no harm.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect((await own.request(`/documents/${id}`)).status).toBe(200)
  })

  it('ask before a restart, and give the focus back to the banner', async () => {
    const own = await startServerProcess()
    const { page } = await openWebUi(browser, own.url, 'settings/knowledge')
    await page.getByLabel('TOP_K').fill('8')
    await page.keyboard.press('Enter')
    const banner = page.getByRole('status').filter({ hasText: 'Restart needed' })
    const restart = banner.getByRole('button', { name: 'Restart' })
    await restart.waitFor()
    await page.mouse.move(640, 400)
    await page.mouse.wheel(0, 10_000)
    await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(100)
    // In sight wherever something was saved.
    expect((await restart.boundingBox())?.y).toBeGreaterThan(0)
    await restart.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await restart.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
  })
})
