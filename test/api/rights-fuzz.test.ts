import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong, long } from '../support/long.ts'
import { TOOL_CALL } from '../support/rights/asking.ts'
import { fuzzRights } from '../support/rights/fuzz.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { type RecordedRequest, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

/** `RIGHTS_SEED` repeats what was changed and asked. */
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000)
const SIZE = isLong
  ? { documents: 20, changes: 150, clients: 32 }
  : { documents: 4, changes: 10, clients: 12 }
const LONG_MS = 900_000

/** Calls the tool that the question names, and says no more than that. */
function callNamedTool(request: RecordedRequest) {
  const [, named] = TOOL_CALL.exec(lastQuestion(request)) ?? []
  const isToldResult = JSON.stringify(request.body).includes('"role":"tool"')
  const reply = named && !isToldResult ? toolCallReply(JSON.parse(named)) : textReply('Done.')
  return typeof reply === 'function' ? reply(request) : reply
}

function lastQuestion({ body }: RecordedRequest): string {
  const { messages = [] } = body as { messages?: { role: string; content?: unknown }[] }
  return String(messages.findLast(({ role }) => role === 'user')?.content ?? '')
}

describe(`Rights that change at random while ${SIZE.clients} clients ask (RIGHTS_SEED=${SEED})`, () => {
  it.each(['answers out of passages', 'calls tools'])(
    'hold for whatever is asked after them, of a model that %s',
    { ...long, timeout: LONG_MS },
    async (kind) => {
      const tools = kind === 'calls tools'
      const upstream = await startScriptedUpstream({ forgets: true })
      upstream.always(callNamedTool)
      const embedder = await startScriptedEmbedder()
      const server = await startServer({
        EMBEDDING_BASE_URL: embedder.url,
        EMBEDDING_API_KEY: 'none',
        EMBEDDING_MODEL: 'scripted',
        ...(tools && modelAt(upstream)),
      })
      onTestFinished(() => server.close())
      const { leaks, refusals, ...counts } = await fuzzRights([server], {
        ...SIZE,
        seed: SEED,
        tools,
      })
      expect(leaks).toEqual([])
      expect(refusals).toEqual([])
      expect(counts.unanswered).toBe(0)
      expect(Math.min(counts.asked, counts.shown, counts.leftOut)).toBeGreaterThan(30)
    },
  )
})
