import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { startServerProcess } from '../support/server-process.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('Settings (needs Chromium)', () => {
  it('have plain labels, choices and units, and are found by words', async () => {
    const server = await startServerProcess()
    const { page, complaints } = await openWebUi(browser, server.url, 'settings')
    expect(await page.getByLabel('Passages per question').inputValue()).toBe('5')
    await page.getByText('200,000,000 bytes, 200 MB').waitFor()
    await page.getByLabel('Text recognition in images').selectOption('off')
    await page.getByText('Changed: OCR').waitFor()
    await press(page, 'Save')
    await page.getByText('Saved: OCR.').waitFor()
    await page.getByLabel('Text recognition in images').selectOption('')
    await press(page, 'Save')
    await page.getByText('Saved: OCR.').waitFor()
    await press(page, 'Embeddings')
    await page.getByRole('heading', { name: 'Embeddings' }).and(page.locator(':focus')).waitFor()
    await page.getByLabel('Find a setting').fill('largest file')
    await page.getByLabel('Passages per question').waitFor({ state: 'detached' })
    await page.getByLabel('Largest file').waitFor()
    await page.getByLabel('Find a setting').fill('no such words')
    await page.getByText('No matching settings').waitFor()
    expect(complaints).toEqual([])
  })

  it.each(['light', 'dark'] as const)(
    'are accessible and fit 390 pixels, %s',
    async (colorScheme) => {
      const server = await startServerProcess()
      const viewport = { width: 390, height: 844 }
      const { page } = await openWebUi(browser, server.url, 'settings', { colorScheme, viewport })
      await page.getByLabel('Largest file').waitFor()
      await expectAccessible(page)
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth'),
      ).toBeLessThanOrEqual(390)
      await page.setViewportSize({ width: 1300, height: 900 })
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(
        6_200,
      )
    },
  )
})
