import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startServer } from '../support/server.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('The palette (needs Chromium)', () => {
  it('opens pages, documents and conversations by their names, by keys alone', async () => {
    const server = await startServer()
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const { page, complaints } = await openWebUi(browser, server.url)
    const field = page.getByRole('combobox', { name: 'Page, conversation or document' })
    const heading = (name: string) => page.getByRole('heading', { level: 1, name })

    await page.keyboard.press('Control+k')
    await field.waitFor()
    await expectAccessible(page)
    await page.keyboard.type('act')
    await page.getByRole('option', { name: 'Activity' }).waitFor()
    await page.keyboard.press('Enter')
    await heading('Activity').waitFor()
    expect(await field.count()).toBe(0)

    await page.getByRole('button', { name: 'Go to Ctrl K' }).click()
    await field.fill('owls hoot')
    await page.getByRole('option', { name: 'Owls Document' }).waitFor()
    await page.keyboard.press('Enter')
    await heading('Owls').waitFor()

    await server.request('/v1/conversations', { body: { title: 'About zebras' } })
    await page.keyboard.press('Control+k')
    await field.fill('zebra')
    await page.getByRole('option', { name: 'About zebras Conversation' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toMatch(/#\/chat\/conv_/)
    await page.keyboard.press('Control+k')
    await field.fill('new conv')
    await page.getByRole('option', { name: 'New conversation Action' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toMatch(/#\/chat$/)

    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    const selected = page.locator('.palette [aria-selected="true"]')
    await expect.poll(() => selected.innerText()).toMatch(/^Documents/)
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('says that nothing was found', async () => {
    const { page } = await openWebUi(browser, (await startServer()).url)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page, conversation or document' }).waitFor()
    await page.keyboard.type('xyzzy')
    await page.getByText('Nothing found.').waitFor()
  })
})
