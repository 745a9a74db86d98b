import { expect, it } from 'vitest'
import { askOn, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

it.skipIf(!hasBrowser)('Which agent answers is chosen in the chat (needs Chromium)', async () => {
  const upstream = await startScriptedUpstream()
  const agents = { letters: { prompt: 'You write letters.' } }
  const AGENT_CONFIG = await writeAgentFile({ name: 'desk', agents })
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
  upstream.script(textReply('Dear reader.'))
  const { page, complaints } = await openWebUi(browser, server.url, 'chat')
  await page.getByLabel('Agent').selectOption('letters')
  await askOn(page, 'Write to the reader.')
  await page.getByText('Dear reader.').waitFor()
  expect(promptOf(upstream.requests.at(-1), 'system')).toContain('You write letters.')
  expect(complaints).toEqual([])
})
