import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { startServerProcess } from '../support/server-process.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('Settings (needs Chromium)', () => {
  it('have plain labels, choices and units, and are found by words', async () => {
    const server = await startServerProcess()
    const { page, complaints } = await openWebUi(browser, server.url, 'settings/server')
    await page.getByText('200,000,000 bytes, 200 MB').waitFor()
    const find = page.getByLabel('Find a setting')
    await find.fill('passages')
    expect(await page.getByLabel('Passages per question').inputValue()).toBe('5')
    const recognition = page.getByLabel('Text recognition in images')
    await find.fill('text recognition images')
    await recognition.selectOption('off')
    await page.getByText('Changed: OCR').waitFor()
    await press(page, 'Save')
    await page.getByText('Saved: OCR.').waitFor()
    await recognition.selectOption('')
    await press(page, 'Save')
    await page.getByText('Saved: OCR.').waitFor()
    await find.fill('largest file')
    await recognition.waitFor({ state: 'detached' })
    await page.getByLabel('Largest file').waitFor()
    await find.fill('no such words')
    await page.getByText('No matching settings').waitFor()
    expect(complaints).toEqual([])
  })

  it('are shown a section at a time, each at an address of its own', async () => {
    const server = await startServerProcess()
    const { page } = await openWebUi(browser, server.url, 'settings')
    const sections = page.getByRole('navigation', { name: 'Sections' })
    const open = (name: string) => sections.getByRole('link', { name }).click()
    const shown = () => page.getByRole('heading', { level: 2 }).allInnerTexts()
    const current = sections.locator('[aria-current]')
    await expect.poll(shown).toEqual(['Server'])
    await open('Embeddings')
    await expect.poll(shown).toEqual(['Embeddings'])
    expect(await current.innerText()).toBe('Embeddings')
    expect(page.url()).toMatch(/#\/settings\/embeddings$/)
    await page.getByLabel('Find a setting').fill('api key')
    await expect.poll(async () => (await shown()).length).toBeGreaterThan(2)
    expect(await current.count()).toBe(0)
    // Also the section that is at the address already.
    await open('Embeddings')
    await expect.poll(shown).toEqual(['Embeddings'])
    await open('Chat model')
    await expect.poll(shown).toEqual(['Chat model'])
    await page.goBack()
    await expect.poll(shown).toEqual(['Embeddings'])
    await page.reload()
    await expect.poll(shown).toEqual(['Embeddings'])
  })

  it.each(['light', 'dark'] as const)(
    'are accessible and fit 390 pixels, %s',
    async (colorScheme) => {
      const server = await startServerProcess()
      const viewport = { width: 390, height: 844 }
      const { page } = await openWebUi(browser, server.url, 'settings', { colorScheme, viewport })
      await page.getByLabel('Largest file').waitFor()
      await expectAccessible(page, `settings narrow ${colorScheme}`)
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth'),
      ).toBeLessThanOrEqual(390)
      await page.setViewportSize({ width: 1300, height: 900 })
      await expectAccessible(page, `settings wide ${colorScheme}`)
      // The longest section.
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(
        2_400,
      )
    },
  )
})
