import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { goTo, hasBrowser, openScreen, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { errorReply, hangReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Question', { exact: true }).last().fill(question)
  await page.keyboard.press('Enter')
}

describe.skipIf(!hasBrowser)('Chat (needs Chromium)', () => {
  it('can be stopped, asked again, and says what went wrong with the model', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openScreen(browser, server.url, 'chat')
    upstream.always(hangReply())
    await ask(page, 'First question')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()

    upstream.always(errorReply(401, 'Wrong key'))
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()

    upstream.always(textReply('A **bold** answer.'))
    await page.getByRole('button', { name: 'Edit question 1' }).click()
    await page.getByLabel('Question', { exact: true }).first().fill('Second question')
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.locator('strong', { hasText: 'bold' }).waitFor()
    expect(await page.getByText('First question').count()).toBe(0)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByRole('button', { name: 'Begin anew' }).click()
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('question')
    await upstream.close()
  })

  it('opens at its end on a telephone, too, whose navigation scrolls', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const viewport = { width: 360, height: 740 }
    const { page } = await openScreen(browser, server.url, 'chat', { viewport })
    upstream.always(textReply(Array.from({ length: 60 }, (_, n) => `Line ${n}.`).join('\n\n')))
    await ask(page, 'First question')
    await page.getByText('Line 59.').waitFor()
    await goTo(page, 'Settings')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await goTo(page, 'Chat')
    const last = page.getByText('Line 59.')
    await expect.poll(async () => ((await last.boundingBox())?.y ?? Infinity) < 740).toBe(true)
    await upstream.close()
  })

  it('moves on to a question that is asked while something earlier is read', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openScreen(browser, server.url, 'chat')
    upstream.always(textReply(Array.from({ length: 60 }, (_, n) => `Line ${n}.`).join('\n\n')))
    await ask(page, 'First question')
    await page.getByText('Line 59.').waitFor()
    await page.evaluate('window.scrollTo(0, 0)')
    await expect.poll(() => page.evaluate('window.scrollY')).toBe(0)
    upstream.always(textReply('The second answer.'))
    await ask(page, 'Second question')
    const answer = page.getByText('The second answer.')
    await answer.waitFor()
    await expect.poll(async () => ((await answer.boundingBox())?.y ?? Infinity) < 800).toBe(true)
    await upstream.close()
  })
})
