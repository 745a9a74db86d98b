import { GO_ON } from '@agent-server/lib/text/go-on.ts'
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
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, streamReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const BEGUN = 'On Saturdays the library opens at ten [1]. '
const REST = 'Books are lent for four weeks [1].'

/** A server with a chapter on each of both, and a model that is scripted. */
async function start() {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream))
  const text = 'On Saturdays the library opens at ten. Books are lent for four weeks.'
  await server.ingest({ title: 'Library', text })
  return { upstream, server }
}

describe.skipIf(!hasBrowser)('An answer that was cut off (needs Chromium)', () => {
  it('goes on from what there is of it, also after a reload, with sources of its own', async () => {
    const { upstream, server } = await start()
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.script(streamReply(chunk({ content: BEGUN }), { hang: true }))
    await askOn(page, 'When does the library open, and for how long are books lent?')
    await page.getByText('On Saturdays the library opens').waitFor()
    await press(page, 'Stop')
    const goOn = page.getByRole('button', { name: 'Continue', exact: true })
    await goOn.waitFor()
    await expectAccessible(page, 'stopped')
    // The beginning is stored, and so is that it was stopped.
    await page.reload()
    upstream.script(textReply(REST))
    await goOn.click()
    await page.getByText('Books are lent for four weeks').waitFor()
    await page.locator('.turn:last-child .turn-foot').waitFor()
    expect(await goOn.count()).toBe(0)
    const { messages } = Object(upstream.requests.at(-1)?.body)
    const [, answer, last] = messages.slice(-3)
    expect(answer).toMatchObject({
      role: 'assistant',
      content: expect.stringContaining('opens at ten'),
    })
    expect(last).toMatchObject({ role: 'user', content: expect.stringContaining(GO_ON) })
    // What was asked before is searched for.
    expect(last.content).toContain('Books are lent for four weeks.')
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload()
      await page.getByText('Continued', { exact: true }).waitFor()
      expect(await page.locator('.question').count()).toBe(1)
      for (const turn of await page.locator('.turn').all()) {
        await turn.getByRole('button', { name: 'Source 1' }).click()
        await page.locator('.reader').getByText('Books are lent').first().waitFor()
        await page.keyboard.press('Escape')
        await page.locator('.reader').waitFor({ state: 'detached' })
      }
    }
    await expectAccessible(page, 'continued')
    // Another version of the rest, beside which the first one stays. A card is shown as long as it is pointed at.
    await page.mouse.move(0, 0)
    upstream.script(textReply('Another rest.'))
    await page.locator('.turn:last-child').getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Another rest.').waitFor()
    await press(page, 'Previous version')
    await page.getByText('Books are lent for four weeks').waitFor()
    await upstream.close()
  })

  it('goes on again where it was too long for the model, and not where it had not begun', async () => {
    const { upstream, server } = await start()
    const { page } = await openWebUi(browser, server.url, 'chat')
    const goOn = page.getByRole('button', { name: 'Continue', exact: true })
    upstream.script(
      textReply(BEGUN, { finishReason: 'length' }),
      textReply('And more.', { finishReason: 'length' }),
      textReply('The end.'),
      streamReply({ hang: true }),
    )
    await askOn(page, 'When does the library open?')
    for (const text of ['And more.', 'The end.']) {
      await goOn.click()
      await page.getByText(text).waitFor()
    }
    await page.locator('.turn:last-child .turn-foot').waitFor()
    expect(await goOn.count()).toBe(0)
    expect(await page.getByText('Continued', { exact: true }).count()).toBe(2)
    await askOn(page, 'And on Sundays?')
    await press(page, 'Stop')
    await page.getByText('Stopped.').waitFor()
    expect(await goOn.count()).toBe(0)
    await upstream.close()
  })

  it('goes on after the server was stopped in the middle of it', async () => {
    const upstream = await startScriptedUpstream()
    const environment = modelAt(upstream, {
      DATA_DIR: await temporaryDirectory(),
      SHUTDOWN_GRACE: '0',
    })
    const first = await startServer(environment)
    const { page } = await openWebUi(browser, first.url, 'chat')
    upstream.script(streamReply(chunk({ content: 'The beginning,' }), { hang: true }))
    await askOn(page, 'Slow question')
    await page.getByText('The beginning,').waitFor()
    await first.close()
    await startServer({ ...environment, PORT: new URL(first.url).port })
    await page.getByText('Interrupted: the server stopped').waitFor()
    upstream.script(textReply('and the end.'))
    await press(page, 'Continue')
    await page.getByText('and the end.').waitFor()
    const { messages } = Object(upstream.requests.at(-1)?.body)
    expect(messages.at(-2)).toMatchObject({ role: 'assistant', content: 'The beginning,' })
    await upstream.close()
  })
})
