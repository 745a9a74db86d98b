import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { askOn, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
const BLOCK = `## Part

The library opens **at ten** [1], and a lost book costs $p + 5$. See the *rules*.

- one of them
- another

| Day | Opens |
| --- | ---: |
| Saturday | 10 |

`
const ofLength = (length: number) => `${BLOCK.repeat(length / BLOCK.length)}The very end.`

async function watchProcessor(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000
  }
}

describe.skipIf(!hasBrowser)('A long answer (needs Chromium)', () => {
  it('of 3 MB opens within two seconds of processor time, and shows more where it is wanted', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const created = await server.request('/v1/conversations', { body: {} })
    const { id } = z.object({ id: z.string() }).parse(await created.json())
    const pieces = Array.from({ length: 30 }, () => chunk({ content: `${ofLength(100_000)}\n\n` }))
    upstream.script(streamReply(...pieces, chunk({}, 'stop'), DONE))
    const messages = [{ role: 'user', content: 'Everything?' }]
    const asked = await server.request('/chat', { body: { messages, conversation: { id } } })
    expect((await asked.text()).length).toBeGreaterThan(3_000_000)
    const { page, complaints } = await openWebUi(browser, server.url, 'keys')
    const taken = await watchProcessor(page)
    const before = await taken()
    await page.goto(`${server.url}/#/chat/${id}`)
    const more = page.getByRole('button', { name: /^Show more of the answer/ })
    await more.last().waitFor()
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))')
    const opened = (await taken()) - before
    process.stdout.write(`${JSON.stringify({ opened })}\n`)
    expect(opened).toBeLessThan(2_000)
    const drawn = () => page.locator('.answer').last().locator('h3').count()
    const first = await drawn()
    await more.last().click()
    await expect.poll(drawn).toBeGreaterThan(first * 1.5)
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('takes as long to go on at its end as at its beginning', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Hours', text: 'The library opens at ten.' })
    const { page } = await openWebUi(browser, server.url, 'chat')
    const taken = await watchProcessor(page)
    /** What the page does in a tenth of a second. */
    const workOfATenth = async () => {
      const before = await taken()
      await pause(100)
      return (await taken()) - before
    }
    /** How long a paragraph of 40 pieces takes behind an answer of this length. */
    const measure = async (length: number) => {
      const [rest, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const pieces = Array.from({ length: 40 }, (_, place) => [
        { until: new Promise((done) => setTimeout(done, place * 60)) },
        chunk({ content: `word ${length}-${place} ` }),
      ]).flat()
      upstream.script(
        streamReply(
          chunk({ content: `${BLOCK.repeat(length / BLOCK.length)}All before.\n\n` }),
          { until: rest.promise },
          ...pieces,
          { until: end.promise },
          chunk({ content: 'The end.' }),
          chunk({}, 'stop'),
          DONE,
        ),
      )
      await askOn(page, `Write ${length}`)
      await page.getByText('All before.').last().waitFor()
      // What is drawn of it a little later is no work of the paragraph.
      await expect.poll(workOfATenth).toBeLessThan(20)
      const before = await taken()
      rest.resolve()
      await page.getByText(`word ${length}-39`).last().waitFor()
      const used = (await taken()) - before
      end.resolve()
      await page.getByText('The end.').last().waitFor()
      return used
    }
    const short = await measure(1_000)
    // More is drawn only where it is wanted.
    const long = await measure(90_000)
    process.stdout.write(`${JSON.stringify({ short, long })}\n`)
    expect(long).toBeLessThan(short * 4 + 300)
    await upstream.close()
  })
})
