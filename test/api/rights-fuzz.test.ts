// @module-tag long
import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong } from '../support/long.ts'
import { fuzzRights } from '../support/rights/fuzz.ts'
import { callNamedTool } from '../support/rights/tools.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'

/** `RIGHTS_SEED` repeats what was changed and asked. */
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000)
const SIZE = isLong
  ? { documents: 20, changes: 100, clients: 32 }
  : { documents: 4, changes: 20, clients: 12 }
/** How often something has to be shown, and left out, for the rest to say anything; some seeds share little. */
const LEAST = isLong ? 30 : 5
const LONG_MS = 900_000
const CHANGING_MS = isLong ? 240_000 : 40_000

describe(`Rights that change at random while ${SIZE.clients} clients ask (RIGHTS_SEED=${SEED})`, () => {
  it.each(['answers out of passages', 'calls tools'])(
    'hold for whatever is asked after them, of a model that %s',
    { timeout: LONG_MS },
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
        milliseconds: CHANGING_MS,
        tools,
      })
      expect(leaks).toEqual([])
      expect(refusals).toEqual([])
      expect(counts.unanswered).toBe(0)
      expect(Math.min(counts.shown, counts.leftOut), JSON.stringify(counts)).toBeGreaterThan(LEAST)
    },
  )
})
