import { describe, expect, it } from 'vitest'
import {
  type ClusteredVectors,
  createClusteredVectors,
  DIMENSION,
} from '../../../../bench/support/clustered-vectors.ts'
import { isLong, long } from '../../../../test/support/long.ts'
import { createRandom } from '../../../../test/support/random.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { openVectorPart } from '../../src/embedded/vectors.ts'

const CHUNKS = isLong ? 100_000 : 6_000
const QUESTIONS = 30
const NEAREST = 10
/** As a search with vectors asks for at least. */
const LIMIT = 100
/** Vectors have 8 bits: cosines that differ by less are as good as equal. */
const ROUNDING = 0.001
const CHUNKS_OF_A_TOPIC = isLong ? 480 : 48
const LONG_MS = 600_000

describe('The nearest vectors among those that may be seen', async () => {
  const { chunk, question } = createClusteredVectors()
  const random = createRandom(5)
  const all = Uint32Array.from({ length: CHUNKS }, (_, i) => i)
  const exact = new Float32Array(CHUNKS * DIMENSION)
  for (const key of all) exact.set(chunk(key), key * DIMENSION)
  const index = await openVectorPart({
    directory: await temporaryDirectory(),
    fingerprint: '1',
    notify: ({ message }) => expect.fail(message),
  })
  await index.add({ keys: all, dimension: DIMENSION, values: exact })

  const byTopics = (share: number) => {
    const topics = Math.ceil(CHUNKS / CHUNKS_OF_A_TOPIC)
    const first = random.below(topics)
    return all.filter((key) => {
      const topic = Math.floor(key / CHUNKS_OF_A_TOPIC)
      return ((topic + first) * 7) % topics < topics * share
    })
  }

  it.each([
    ['half of them', () => all.filter(() => random.next() < 0.5)],
    ['the half by topic', () => byTopics(0.5)],
    ['a tenth', () => all.filter(() => random.next() < 0.1)],
    ['a tenth by topic', () => byTopics(0.1)],
    ['a hundredth', () => all.filter(() => random.next() < 0.01)],
    ['a hundredth that stand together', () => all.subarray(CHUNKS / 2, CHUNKS / 2 + CHUNKS / 100)],
    ['a thousandth', () => all.filter(() => random.next() < 0.001)],
    ['ten', () => all.filter((key) => key % (CHUNKS / 10) === 7)],
  ])('are found as by comparing all: %s', { ...long, timeout: LONG_MS }, (_name, scope) => {
    const only = scope()
    let nearEnough = 0
    let wanted = 0
    for (let asked = 0; asked < QUESTIONS; asked++) {
      const vector = question(random.below(CHUNKS))
      const cosines = cosinesOf(vector, only, exact)
      const best = [...cosines.values()].toSorted((a, b) => b - a).slice(0, NEAREST)
      const least = (best.at(-1) ?? 0) - ROUNDING
      const found = index.nearest({ vector, limit: LIMIT, only }).keys.subarray(0, NEAREST)
      nearEnough += [...found].filter((key) => (cosines.get(key) ?? -1) >= least).length
      wanted += best.length
    }
    expect(nearEnough / wanted).toBeGreaterThanOrEqual(0.99)
  })
})

type Vector = ReturnType<ClusteredVectors['question']>

function cosinesOf(vector: Vector, keys: Uint32Array, exact: Float32Array): Map<number, number> {
  return new Map(
    Array.from(keys, (key) => {
      let product = 0
      for (let i = 0; i < DIMENSION; i++)
        product += (vector[i] ?? 0) * (exact[key * DIMENSION + i] ?? 0)
      return [key, product]
    }),
  )
}
