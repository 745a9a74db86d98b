import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const pastePicture = (page: Page, name = 'dot.png') =>
  page.evaluate<void>(`(() => {
    const bytes = Uint8Array.from(atob('${PIXEL}'), (letter) => letter.charCodeAt(0))
    const data = new DataTransfer()
    data.items.add(new File([bytes], '${name}', { type: 'image/png' }))
    document.querySelector('textarea[aria-label="Question"]').dispatchEvent(
      new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: data }))
  })()`)

const ASKS_BEFORE_LEAVING = "!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"

const shown = (page: Page) => page.getByRole('region', { name: 'Shown to the model' })
const attached = (page: Page) => page.getByRole('img', { name: 'Attachment 1' })

describe.skipIf(!hasBrowser)('Pictures in chat (need Chromium)', () => {
  it('go to a model that sees, stay with their question, and are sent again with it', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('A dot.'))
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const sent = () => JSON.stringify(upstream.requests.at(-1)?.body).split(PIXEL).length - 1
    await pastePicture(page, 'other.png')
    await pastePicture(page)
    await shown(page).getByText('dot.png').waitFor()
    await press(page, 'Remove other.png')
    await page.reload()
    await shown(page).getByText('dot.png').waitFor()
    expect(await shown(page).getByRole('listitem').count()).toBe(1)
    await expectAccessible(page)
    await askOn(page, 'What is this?')
    await page.locator('.answer', { hasText: 'A dot.' }).waitFor()
    expect(sent()).toBe(1)
    expect(await shown(page).count()).toBe(0)
    await page.reload()
    await attached(page).waitFor()
    const width = 'document.querySelector(".question img").naturalWidth'
    await expect.poll(() => page.evaluate(width)).toBe(1)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('2 / 2').waitFor()
    await expect.poll(() => upstream.requests.length).toBe(2)
    expect(sent()).toBe(1)
    expect(complaints).toEqual([])
  })

  it('are not left without asking where the tab has no room to keep them', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    expect(await page.evaluate(ASKS_BEFORE_LEAVING)).toBe(false)
    await page.evaluate('Storage.prototype.setItem = () => { throw new Error("full") }')
    await pastePicture(page)
    await shown(page).getByText('dot.png').waitFor()
    expect(await page.evaluate(ASKS_BEFORE_LEAVING)).toBe(true)
    await press(page, 'Remove dot.png')
    expect(await page.evaluate(ASKS_BEFORE_LEAVING)).toBe(false)
  })

  it('become files of the conversation for a model that does not see', async () => {
    const upstream = await startScriptedUpstream()
    upstream.script(errorReply(400, 'This model does not support image input'))
    upstream.always(textReply('I cannot see it.'))
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    await pastePicture(page)
    await shown(page).getByText('dot.png').waitFor()
    await askOn(page, 'What is this?')
    await page.locator('.answer', { hasText: 'I cannot see it.' }).waitFor()
    await pastePicture(page, 'second.png')
    const files = page.getByRole('region', { name: 'Only in this conversation' })
    await files.getByRole('link', { name: 'second.png' }).waitFor()
    expect(await shown(page).count()).toBe(0)
  })
})
