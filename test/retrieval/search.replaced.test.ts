import { everything } from '@agent-server/lib/visibility.ts'
import type { QueryTerms } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createRetrieval } from '../../src/retrieval/search.ts'

const TERMS: QueryTerms = { terms: new Uint32Array([1]), counts: new Float32Array([1]) }

const chunkOf = (key: number): StoredChunk => ({
  key,
  id: `doc-${key}-0`,
  documentId: 'doc',
  ordinal: 0,
  text: `Text ${key}`,
  title: 'T',
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
  heading: '',
  start: 0,
  end: 6,
})

/** Retrieval whose searches find one list of keys after another, over a document store that holds some of them. */
function createForTest(searches: number[][], stored: number[]) {
  let asked = 0
  const retrieval = createRetrieval({
    index: {
      async search() {
        const keys = searches[asked++] ?? searches.at(-1) ?? []
        const candidates = keys.map((key) => ({ key, score: 100 - key }))
        return { candidates, exhausted: true, degraded: false }
      },
    },
    store: {
      listChunks: async () => undefined,
      readChunks: async (_visibility, keys) => ({
        chunks: keys.filter((key) => stored.includes(key)).map(chunkOf),
        missing: keys.filter((key) => !stored.includes(key)),
      }),
    },
    analyseQuery: () => TERMS,
    termsOfChunk: () => TERMS.terms,
    hasAllVectors: () => true,
  })
  return {
    async find(topK: number) {
      const { hits } = await retrieval.search({ visibility: everything(), query: 'When?', topK })
      return hits.map(({ text }) => text)
    },
    asked: () => asked,
  }
}

describe('A search during which a document is replaced', () => {
  it('finds the new chunk where the earlier one was gone before it could be read', async () => {
    const { find } = createForTest([[1], [1, 2]], [2])
    expect(await find(5)).toEqual(['Text 2'])
  })

  it('finds it also where others fill the answer', async () => {
    const { find } = createForTest(
      [
        [1, 3, 4],
        [2, 3, 4],
      ],
      [2, 3, 4],
    )
    expect(await find(2)).toEqual(['Text 2', 'Text 3'])
  })

  it('finds it where that one was replaced, too, as a slow search went on', async () => {
    const { find, asked } = createForTest([[1], [2], [3], [4]], [4])
    expect(await find(5)).toEqual(['Text 4'])
    expect(asked()).toBe(4)
  })

  it('comes to its end where each chunk is replaced before it is read', async () => {
    const { find, asked } = createForTest([[1], [2], [3], [4], [5], [6]], [])
    expect(await find(5)).toEqual([])
    expect(asked()).toBe(4)
  })

  it('is made anew once, not as long as the index holds what is not there', async () => {
    const { find, asked } = createForTest([[1, 2]], [2])
    expect(await find(5)).toEqual(['Text 2'])
    expect(asked()).toBe(2)
  })

  it('is made once where everything that was found is there', async () => {
    const { find, asked } = createForTest([[1, 2]], [1, 2])
    expect(await find(5)).toHaveLength(2)
    expect(asked()).toBe(1)
  })
})
