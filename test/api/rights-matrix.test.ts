import { describe, expect, it } from 'vitest'
import { isLong, long } from '../support/long.ts'
import { askOperations, judgeLists } from '../support/rights/matrix.ts'
import { fillWorld } from '../support/rights/world.ts'
import { startServer } from '../support/server.ts'

const SIZE = isLong
  ? { documents: 10_000, people: 200, groups: 40 }
  : { documents: 60, people: 10, groups: 6 }
const LONG_MS = 1_800_000

const server = await startServer({ INGEST_QUEUE_LIMIT: '20000' })
const world = await fillWorld(server, SIZE)

describe('People who share documents at random', () => {
  it('are listed what they may read, all of it and nothing else', {
    ...long,
    timeout: LONG_MS,
  }, async () => {
    await judgeLists(server, world)
  })

  it('are shown by every operation what they may read, and nothing else', {
    ...long,
    timeout: LONG_MS,
  }, async () => {
    const rounds = isLong ? 200 : 2
    const { asked, leaks, refusals } = await askOperations(server, world, {
      rounds,
      slowEvery: 2,
    })
    expect(leaks).toEqual([])
    expect(refusals).toEqual([])
    expect(asked).toBeGreaterThan(300)
  })
})
