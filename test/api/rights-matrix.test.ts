import { describe, expect, it } from 'vitest'
import { isLong, long } from '../support/long.ts'
import { askOperations, judgeLists } from '../support/rights/matrix.ts'
import { fillWorld } from '../support/rights/world.ts'
import { startServer } from '../support/server.ts'

/** `RIGHTS_DOCUMENTS=10000` makes a company of 200 people in 40 groups, which takes half an hour. */
const { RIGHTS_DOCUMENTS = isLong ? '1000' : '60' } = process.env
const documents = Number(RIGHTS_DOCUMENTS)
const SIZE = {
  documents,
  people: Math.max(10, documents / 50),
  groups: Math.max(6, documents / 250),
}
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
    const rounds = isLong ? SIZE.people : 4
    const { asked, leaks, refusals } = await askOperations(server, world, {
      rounds,
      slowEvery: 2,
    })
    expect(leaks).toEqual([])
    expect(refusals).toEqual([])
    expect(asked).toBeGreaterThan(300)
  })
})
