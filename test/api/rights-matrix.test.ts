import { describe, expect, it } from 'vitest'
import { isLong, long, onlyLong } from '../support/long.ts'
import { askOperations, judgeLists, judgeValues } from '../support/rights/matrix.ts'
import { callNamedTool } from '../support/rights/tools.ts'
import { COMPANY, fillWorld } from '../support/rights/world.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'

const SIZE = isLong ? COMPANY : { documents: 60, people: 10, groups: 6 }
const LONG_MS = 1_800_000
const options = { ...long, timeout: LONG_MS }

const upstream = isLong ? await startScriptedUpstream({ forgets: true }) : undefined
upstream?.always(callNamedTool)
const server = await startServer({
  INGEST_QUEUE_LIMIT: '20000',
  ...(upstream && modelAt(upstream)),
})
const world = await fillWorld(server, SIZE)

describe('People who share documents at random', () => {
  it('are listed what they may read, all of it and nothing else', options, async () => {
    await judgeLists(server, world)
  })

  it('are told by tools how many of these have what', { ...options, ...onlyLong }, async () => {
    await judgeValues(server, world)
  })

  it('are shown by every operation what they may read, and nothing else', options, async () => {
    const sample = isLong ? { people: SIZE.people, rareEvery: 10 } : { people: 5, rareEvery: 3 }
    const { asked, leaks, refusals } = await askOperations(server, world, sample)
    expect(leaks, leaks.join('\n')).toEqual([])
    expect(refusals, refusals.join('\n')).toEqual([])
    expect(asked).toBeGreaterThan(300)
  })
})
