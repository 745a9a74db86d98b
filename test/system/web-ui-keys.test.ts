import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { requester, startServer } from '../support/server.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('The Keys page (needs Chromium)', () => {
  it('makes a key, shows it once, and revokes it; by the keyboard, at 360 pixels', async () => {
    const server = await startServer()
    const narrow = { viewport: { width: 360, height: 780 } }
    const { page, complaints } = await openWebUi(browser, server.url, 'keys', narrow)
    await page.getByText('No other keys yet').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Name').fill('Website')
    await page.getByLabel(/^chat:/).focus()
    await page.keyboard.press('Space')
    await page.getByLabel('Collections').fill('handbook')
    await page.getByLabel('Requests a minute').fill('60')
    await page.getByLabel('Tokens a day').fill('9000000000')
    await page.keyboard.press('Enter')
    const mistake = page.locator('.reason', { hasText: '1000000000' })
    await mistake.waitFor()
    await page.getByLabel('Tokens a day').fill('5000')
    await page.getByLabel('Money a day').fill('2.5')
    await page.keyboard.press('Enter')
    const made = page.getByRole('region', { name: 'The key “Website”' })
    const secret = (await made.locator('pre').textContent()) ?? ''
    const holder = requester(server.url, secret)
    expect((await holder('/documents')).status).toBe(200)
    await page.getByText('query, chat · only handbook · 60 requests a minute').waitFor()
    await page.getByText('0 of 5,000 tokens and $0.00 of $2.50 today').waitFor()
    await expectAccessible(page)
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    expect(Number(overflow)).toBeLessThanOrEqual(0)

    await page.reload()
    await page.getByRole('button', { name: 'Revoke Website' }).click()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No other keys yet').waitFor()
    expect((await holder('/documents')).status).toBe(401)

    await page.getByLabel('Name').fill('Both')
    await page.getByLabel(/^admin:/).check()
    await page.getByLabel('Collections').fill('handbook')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('alert').filter({ hasText: 'collections' }).waitFor()
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })
})
