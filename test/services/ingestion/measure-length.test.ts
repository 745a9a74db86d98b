import { describe, expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { measureLength } from '../../../src/services/ingestion/replace-index.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const analyser = createAnalyser('none')

/** A document store whose chunk `n` has as many words as `lengthOf` says. */
function storeOf(count: number, lengthOf: (key: number) => number) {
  let read = 0
  const chunk = (key: number): StoredChunk => ({
    ...{ key, ordinal: 0, start: 0, end: 0, heading: '', id: `${key}`, documentId: `${key}` },
    ...{ title: undefined, url: undefined, metadata: undefined },
    text: 'word '.repeat(lengthOf(key)),
  })
  return {
    chunkKeys: async () => Uint32Array.from({ length: count }, (_, key) => key),
    async readChunks(keys: readonly number[]) {
      read += keys.length
      return keys.map(chunk)
    },
    read: () => read,
  }
}

describe('The mean length of chunks', () => {
  it('is that of all where they are few', async () => {
    const store = storeOf(200, (key) => (key % 2 === 0 ? 10 : 30))
    expect(await measureLength(store, analyser)).toBe(20)
  })

  it('is that of some thousand, spread over all, where they are many', async () => {
    const store = storeOf(50_000, (key) => (key < 25_000 ? 10 : 30))
    expect(await measureLength(store, analyser)).toBeCloseTo(20, 0)
    expect(store.read()).toBeLessThan(2_100)
  })

  it('is the usual one where there are none or almost none, or none has words', async () => {
    const usual = await measureLength(
      storeOf(0, () => 1),
      analyser,
    )
    expect(usual).toBeGreaterThan(100)
    expect(
      await measureLength(
        storeOf(99, () => 1),
        analyser,
      ),
    ).toBe(usual)
    expect(
      await measureLength(
        storeOf(200, () => 0),
        analyser,
      ),
    ).toBe(usual)
  })
})
