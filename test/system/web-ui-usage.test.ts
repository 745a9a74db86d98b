import { expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { speakingFor } from '../support/people.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

it.skipIf(!hasBrowser)(
  'Usage shows who used what, by what is chosen, filtered, and as CSV (needs Chromium)',
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Owls.', { usage: { prompt_tokens: 1_000, completion_tokens: 10 } }))
    const prices = { models: { priced: { input: 2, output: 10 } } }
    const AGENT_CONFIG = await writeAgentFile({ prices })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG, CHAT_MODEL: 'priced' }))
    const body = { messages: [{ role: 'user', content: 'Who hoots?' }], stream: false }
    for (const name of ['ada', 'ada', 'bob']) {
      await speakingFor(server, { name })('/v1/chat/completions', { body })
    }
    const { page, complaints } = await openWebUi(browser, server.url, 'usage')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.allInnerTexts()).toHaveLength(2)
    expect(await rows.last().innerText()).toMatch(/Total\s+3\s+3,000\s+0\s+30\s+\$0\.0063/)
    await page.locator('.filters-row select').first().selectOption('person')
    await expect.poll(() => rows.first().innerText()).toMatch(/^ada\s+2\s+2,000/)
    await page.getByPlaceholder('user:ada').fill('user:bob')
    await page.getByPlaceholder('user:ada').press('Enter')
    await expect.poll(() => rows.first().innerText()).toMatch(/^bob\s+1\s+1,000/)
    await expectAccessible(page, 'usage')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'CSV' }).click()
    const text = Buffer.concat(await Array.fromAsync(await (await download).createReadStream()))
    expect(text.toString()).toContain('user:bob,,1,1000,0,10,0.0021,')
    expect(complaints).toEqual([])
  },
)
