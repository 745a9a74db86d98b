import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { askOn, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { openAnswer } from '../support/cited-answer.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { hangReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
const ANSWER = 'On Saturdays the library opens at ten [1].'

const reader = (page: Page) => page.locator('.reader')
const find = (page: Page) => page.getByRole('search', { name: 'Find in this conversation' })
const tooltip = (page: Page) => page.getByRole('tooltip')
const suggestions = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' })

async function openReader(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Source 1' }).click()
  await reader(page).locator('mark').first().waitFor()
  // The card of the citation is shown as long as it is pointed at.
  await page.mouse.move(0, 0)
}

/** One press. */
async function pressEscape(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  // What it closes is drawn.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
}

describe.skipIf(!hasBrowser)('One press of Escape closes one thing (needs Chromium)', () => {
  it('the reader before a search that was opened earlier', async () => {
    const { page } = await openAnswer(browser, ANSWER)
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    await press(page, 'Find in this conversation')
    await page.keyboard.type('library')
    await openReader(page)
    await pressEscape(page)
    expect(await reader(page).count()).toBe(0)
    expect(await find(page).count()).toBe(1)
    // The focus is on the citation again, whose card covers nothing.
    const isFocused = "document.activeElement.getAttribute('aria-label') === 'Source 1'"
    expect(await page.evaluate<boolean>(isFocused)).toBe(true)
    expect(await tooltip(page).count()).toBe(0)
    await pressEscape(page)
    expect(await find(page).count()).toBe(0)
  })

  it('also where the key is held down', async () => {
    const { page } = await openAnswer(browser, ANSWER)
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    await press(page, 'Find in this conversation')
    await openReader(page)
    for (let press = 0; press < 5; press += 1) await page.keyboard.down('Escape')
    await page.keyboard.up('Escape')
    await reader(page).waitFor({ state: 'detached' })
    expect(await find(page).count()).toBe(1)
    await pressEscape(page)
    expect(await find(page).count()).toBe(0)
  })

  it('a search with the focus in it before the reader, whichever was opened first', async () => {
    const { page } = await openAnswer(browser, ANSWER)
    await openReader(page)
    await press(page, 'Find in this conversation')
    await page.keyboard.type('library')
    await pressEscape(page)
    expect(await find(page).count()).toBe(0)
    expect(await reader(page).count()).toBe(1)
    await press(page, 'Find in this conversation')
    await reader(page).getByRole('button', { name: 'Close' }).click()
    await openReader(page)
    await find(page).getByRole('searchbox').focus()
    await pressEscape(page)
    expect(await find(page).count()).toBe(0)
    expect(await reader(page).count()).toBe(1)
  })

  it('suggestions, a dialog, or the card of a citation before the reader', async () => {
    const { page } = await openAnswer(browser, ANSWER)
    await openReader(page)
    const field = page.getByLabel('Question', { exact: true })
    await field.pressSequentially('What does #hand')
    await suggestions(page).waitFor()
    await pressEscape(page)
    expect(await suggestions(page).count()).toBe(0)
    expect(await reader(page).count()).toBe(1)
    expect(await field.inputValue()).toBe('What does #hand')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await pressEscape(page)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await reader(page).count()).toBe(1)
    await page.getByRole('button', { name: 'Source 1' }).hover()
    await tooltip(page).waitFor()
    await pressEscape(page)
    expect(await tooltip(page).count()).toBe(0)
    expect(await reader(page).count()).toBe(1)
    await field.focus()
    await pressEscape(page)
    expect(await reader(page).count()).toBe(0)
    // Who is writing goes on.
    expect(await field.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true)
    expect(await field.inputValue()).toBe('What does #hand')
  })

  it('what is open before it stops an answer, of a draft, too', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Handbook', text: 'On Saturdays the library opens at ten.' })
    const { page } = await openWebUi(browser, server.url, 'chat')
    const stopping = page.getByRole('button', { name: 'Stop', exact: true })
    for (const path of ['chat', 'agent']) {
      await page.goto(`${server.url}/#/${path}`)
      const ask = async (question: string) => {
        if (path === 'chat') return askOn(page, question)
        await page.getByLabel('Question to the draft').fill(question)
        await page.keyboard.press('Enter')
      }
      upstream.script(textReply(ANSWER), hangReply())
      await ask('When does the library open?')
      await page.getByRole('button', { name: 'Source 1' }).waitFor()
      await ask('And on Sundays?')
      await stopping.waitFor()
      await openReader(page)
      await pressEscape(page)
      expect(await reader(page).count()).toBe(0)
      expect(await stopping.count()).toBe(1)
      if (path === 'agent') {
        // A draft goes on while somebody does something else on the page.
        const isElsewhere = page.getByRole('link', { name: 'Overview' })
        await isElsewhere.focus()
        await pressEscape(page)
        expect(await stopping.count()).toBe(1)
        await page.getByLabel('Question to the draft').focus()
      }
      await pressEscape(page)
      await stopping.waitFor({ state: 'detached' })
      await page.getByText('Stopped.').waitFor()
    }
    await upstream.close()
  })
})
