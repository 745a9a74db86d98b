import { describe, expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { IndexMatch, IndexQuery } from '../../../src/indexes/chunk-index.ts'
import type { QueryTerms } from '../../../src/indexes/term-batch.ts'
import type { Filter } from '../../../src/schemas/metadata.ts'
import { Hit } from '../../../src/schemas/query.ts'
import { analyseChunks, createFeedback } from '../../../src/services/retrieval/feedback.ts'
import { createHybridSearch } from '../../../src/services/retrieval/hybrid-search.ts'
import { createRetrieval } from '../../../src/services/retrieval/search.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const TERMS: QueryTerms = { terms: new Uint32Array([1]), counts: new Float32Array([1]) }

function chunkOf(key: number, fields: Partial<StoredChunk> = {}): StoredChunk {
  return {
    key,
    id: `doc_${key}-1-0`,
    documentId: `doc_${key}`,
    ordinal: 0,
    text: `Text ${key}`,
    title: `Title ${key}`,
    url: undefined,
    metadata: undefined,
    heading: '',
    start: 0,
    end: 6,
    ...fields,
  }
}

/** The keys 1 … `count`, the first the best. */
const keysTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

interface Corpus {
  /** What the index finds, best first. */
  matched: readonly number[]
  /** What the document store holds; by default, everything that is matched. */
  stored?: readonly StoredChunk[]
  /** What a filter takes. */
  taken?: readonly number[]
  /** Whether the index looks among what a filter takes by itself. */
  filters?: boolean
}

/** Retrieval over a fixed ranking and a fixed document store, and what each of them was asked. */
function createForTest({
  matched,
  stored = matched.map((key) => chunkOf(key)),
  taken = [],
  filters: indexFilters = false,
}: Corpus) {
  const searches: IndexQuery[] = []
  const reads: number[][] = []
  const analysed: string[] = []
  const filters: Filter[] = []
  const byKey = new Map(stored.map((chunk) => [chunk.key, chunk]))
  const retrieval = createRetrieval({
    index: {
      filters: async () => indexFilters,
      async search(query, signal): Promise<IndexMatch[]> {
        signal?.throwIfAborted()
        searches.push(query)
        return matched.slice(0, query.limit).map((key) => ({ key, score: 10_000 - key }))
      },
    },
    store: {
      async readChunks(keys) {
        reads.push([...keys])
        return keys.flatMap((key) => byKey.get(key) ?? [])
      },
      matchingKeys: async (filter) => {
        filters.push(filter)
        return Uint32Array.from(taken)
      },
    },
    analyseQuery: (text) => {
      analysed.push(text)
      return TERMS
    },
  })
  const search = (topK: number, signal?: AbortSignal) =>
    retrieval.search({ query: 'When?', topK }, signal).then(({ hits }) => hits)
  const found = async (topK: number) =>
    (await search(topK)).map(({ documentId }) => Number(documentId.slice(4)))
  return { retrieval, search, found, searches, reads, analysed, filters }
}

describe('a search', () => {
  it('asks the index for the analysed query and shows its best chunks in their order', async () => {
    const { found, searches, analysed } = createForTest({ matched: [3, 1, 2, 5, 4] })
    expect(await found(3)).toEqual([3, 1, 2])
    expect(analysed).toEqual(['When?'])
    expect(searches.map(({ terms }) => terms)).toEqual([TERMS])
  })

  it.each([1, 2, 5, 20, 100])('answers exactly %i chunks where there are more', async (topK) => {
    expect(await createForTest({ matched: keysTo(500) }).found(topK)).toEqual(keysTo(topK))
  })

  it.each([0, 1, 4])('answers %i chunks where there are no more', async (count) => {
    expect(await createForTest({ matched: keysTo(count) }).found(5)).toEqual(keysTo(count))
  })

  it('gives each hit its own score', async () => {
    const hits = await createForTest({ matched: [2, 1] }).search(5)
    expect(hits.map(({ score }) => score)).toEqual([9_998, 9_999])
  })

  it('reads no more from the document store than it shows, where all of it is there', async () => {
    const { search, reads } = createForTest({ matched: keysTo(500) })
    await search(5)
    expect(reads).toEqual([[1, 2, 3, 4, 5]])
  })

  it('analyses no more than ten thousand code units', async () => {
    const { retrieval, analysed } = createForTest({ matched: [] })
    await retrieval.search({ query: 'q'.repeat(50_000), topK: 5 })
    expect(analysed[0]).toHaveLength(10_000)
  })
})

describe('a hit', () => {
  it('has the four fields of the contract and where it comes from', async () => {
    const [hit] = await createForTest({
      matched: [7],
      stored: [chunkOf(7, { url: 'https://example.org', heading: 'A > B', start: 5, end: 11 })],
    }).search(5)
    expect(Hit.parse(hit)).toEqual(hit)
    expect(hit).toEqual({
      id: 'doc_7-1-0',
      score: 9_993,
      text: 'Text 7',
      title: 'Title 7',
      documentId: 'doc_7',
      url: 'https://example.org',
      heading: 'A > B',
      start: 5,
      end: 11,
    })
  })

  it('of a document without title, address and headings has an empty title and no more', async () => {
    const stored = [chunkOf(7, { title: undefined })]
    const [hit] = await createForTest({ matched: [7], stored }).search(5)
    expect(hit?.title).toBe('')
    expect(hit).not.toHaveProperty('url')
    expect(hit).not.toHaveProperty('heading')
  })
})

describe('matches that the document store does not have', () => {
  it('are never shown, and the next best take their places', async () => {
    const stored = keysTo(100)
      .filter((key) => key % 2 === 0)
      .map((key) => chunkOf(key))
    const { found } = createForTest({ matched: keysTo(100), stored })
    expect(await found(5)).toEqual([2, 4, 6, 8, 10])
  })

  it('are looked past also where the first ones are all gone', async () => {
    const stored = keysTo(600)
      .slice(400)
      .map((key) => chunkOf(key))
    const { found, searches } = createForTest({ matched: keysTo(600), stored })
    expect(await found(3)).toEqual([401, 402, 403])
    expect(searches.length).toBeGreaterThan(1)
    // Four each deeper than the last, and three for what was not missing before.
    expect(searches.length).toBeLessThanOrEqual(7)
  })

  it('are given up after four thousand', async () => {
    const { found, searches, reads } = createForTest({ matched: keysTo(10_000), stored: [] })
    expect(await found(1)).toEqual([])
    expect(Math.max(...searches.map(({ limit }) => limit))).toBe(4_000)
    expect(reads.length).toBeLessThan(70)
  })
})

describe('one chunk in several documents', () => {
  it('is shown once, at its best place, and the next best take the others', async () => {
    const stored = keysTo(10).map((key) => chunkOf(key, key <= 4 ? { text: 'Same' } : {}))
    expect(await createForTest({ matched: keysTo(10), stored }).found(3)).toEqual([1, 5, 6])
  })

  it('is shown once also where the copies are far apart', async () => {
    const stored = keysTo(100).map((key) => chunkOf(key, { text: `Text ${key % 10}` }))
    expect(await createForTest({ matched: keysTo(100), stored }).found(10)).toEqual(keysTo(10))
    expect(await createForTest({ matched: keysTo(100), stored }).found(20)).toEqual(keysTo(10))
  })
})

describe('an abort', () => {
  const gone = new Error('the caller left')

  it('before the search ends it with its reason', async () => {
    const { search, reads } = createForTest({ matched: keysTo(5) })
    await expect(search(5, AbortSignal.abort(gone))).rejects.toBe(gone)
    expect(reads).toEqual([])
  })

  it('while the document store is read ends a search that would have to look deeper', async () => {
    const call = new AbortController()
    const retrieval = createRetrieval({
      index: {
        filters: async () => false,
        async search({ limit }, signal) {
          signal?.throwIfAborted()
          return keysTo(limit).map((key) => ({ key, score: 1 }))
        },
      },
      store: {
        async readChunks() {
          call.abort(gone)
          return []
        },
        matchingKeys: async () => new Uint32Array(),
      },
      analyseQuery: () => TERMS,
    })
    const hits = retrieval.search({ query: 'a', topK: 5 }, call.signal)
    await expect(hits).rejects.toBe(gone)
  })
})

describe('a filter', () => {
  const filter = { field: 'year', eq: 2026 }
  const filtered = { query: 'When?', topK: 2, filter }

  it('is resolved by the document store, and the index searches among what it takes', async () => {
    const { retrieval, searches, filters } = createForTest({ matched: [3, 1], taken: [1, 3, 9] })
    expect((await retrieval.search(filtered)).hits).toHaveLength(2)
    expect(filters).toEqual([filter])
    expect(searches.map(({ only }) => [...(only ?? [])])).toEqual([[1, 3, 9]])
  })

  it('is left to an index that looks among what it takes by itself', async () => {
    // Of the third, the index does not know yet that its metadata has changed.
    const stored = [2026, 2026, 1999].map((year, key) => chunkOf(key, { metadata: { year } }))
    const { retrieval, searches, filters } = createForTest({
      ...{ matched: [2, 1, 0], filters: true, stored },
    })
    expect((await retrieval.search(filtered)).hits).toHaveLength(2)
    expect(filters).toEqual([])
    expect(searches).toMatchObject([{ filter, limit: 18 }])
    expect(searches[0]?.only).toBeUndefined()
  })

  /** An index that knows the newest key alone, and a document store that replaces it up to `most` times. */
  function replacing(most: number) {
    let key = 1
    let asked = 0
    const retrieval = createRetrieval({
      index: {
        filters: async () => false,
        async search({ only = new Uint32Array() }) {
          if (key <= most) key += 1
          return only.includes(key) ? [{ key, score: 1 }] : []
        },
      },
      store: {
        readChunks: async (keys) => keys.map((each) => chunkOf(each)),
        async matchingKeys() {
          asked += 1
          return Uint32Array.of(key)
        },
      },
      analyseQuery: () => TERMS,
    })
    return { search: () => retrieval.search(filtered), asked: () => asked }
  }

  it.each([0, 1, 3])('finds what it takes that was replaced %i times meanwhile', async (times) => {
    const { search, asked } = replacing(times)
    expect((await search()).hits).toMatchObject([{ id: `doc_${times + 1}-1-0` }])
    expect(asked()).toBeLessThanOrEqual(5)
  })

  it('is not resolved for ever where what it takes is replaced without end', async () => {
    const { search, asked } = replacing(1_000)
    expect((await search()).hits).toEqual([])
    expect(asked()).toBe(4)
  })

  it('that takes nothing asks the index for nothing', async () => {
    const { retrieval, searches } = createForTest({ matched: [3, 1] })
    expect([(await retrieval.search(filtered)).hits, searches]).toEqual([[], []])
  })

  it('that is absent leaves the search to all', async () => {
    const { search, searches, filters } = createForTest({ matched: [3, 1] })
    await search(2)
    expect([searches[0]?.only, filters]).toEqual([undefined, []])
  })
})

it('a failure of the document store is the search’s own', async () => {
  const failure = new Error('disk')
  const retrieval = createRetrieval({
    index: { filters: async () => false, search: async () => [{ key: 1, score: 1 }] },
    store: {
      readChunks: () => Promise.reject(failure),
      matchingKeys: async () => new Uint32Array(),
    },
    analyseQuery: () => TERMS,
  })
  await expect(retrieval.search({ query: 'a', topK: 5 })).rejects.toBe(failure)
})

describe('a search by words and meaning', () => {
  const embedder = () => Promise.withResolvers<Float32Array<ArrayBuffer> | undefined>()
  /** The words find the keys 1 … 3, meaning the key 4, once `vector` is there. */
  function createFused(
    vector: Promise<Float32Array<ArrayBuffer> | undefined>,
    embedded = [1, 2, 3, 4],
  ) {
    const events: string[] = []
    const store = {
      readChunks: async (keys: readonly number[]) => keys.map((key) => chunkOf(key)),
      matchingKeys: async () => new Uint32Array(),
      async readVectors(wanted: readonly number[]) {
        const keys = Uint32Array.from(wanted.filter((key) => embedded.includes(key)))
        return {
          keys,
          dimension: 1,
          values: Float32Array.from(keys, (key) => (key === 4 ? 1 : 0.1)),
        }
      },
    }
    const index = {
      filters: async () => false,
      async search({ limit }: { limit: number }) {
        events.push(`words, ${limit}`)
        return keysTo(3).map((key) => ({ key, score: 10 - key }))
      },
      async nearest() {
        events.push('meaning')
        return [{ key: 4, score: 1 }]
      },
    }
    const termsOf = analyseChunks({ store, analyser: createAnalyser('english') })
    const feedback = createFeedback({ index, termsOf })
    const hybrid = {
      embed: () => vector,
      search: createHybridSearch({ index, feedback, store }),
    }
    const words = {
      ...index,
      async search(query: { limit: number }) {
        events.push('as without vectors')
        return index.search(query)
      },
    }
    const retrieval = createRetrieval({ index: words, store, analyseQuery: () => TERMS, hybrid })
    const search = (mode?: 'lexical') => retrieval.search({ query: 'Where?', topK: 4, mode })
    return { search, events }
  }

  it('searches the words while the question is embedded', async () => {
    const { promise, resolve } = embedder()
    const { search, events } = createFused(promise)
    const found = search()
    await new Promise((done) => setImmediate(done))
    expect(events).toEqual(['words, 100'])
    resolve(Float32Array.of(1))
    const { hits, degraded } = await found
    expect(hits.map(({ documentId }) => documentId)).toContain('doc_4')
    expect([degraded, events]).toEqual([false, ['words, 100', 'meaning']])
  })

  it('learns from the words where a passage that they find lacks its vector', async () => {
    const { search, events } = createFused(Promise.resolve(Float32Array.of(1)), [1, 2, 4])
    expect(await search()).toMatchObject({ degraded: false, hits: { length: 4 } })
    expect(events).toEqual(['words, 100', 'meaning', 'words, 100', 'meaning'])
  })

  it('goes the way of a server without vectors where it is asked for words alone', async () => {
    const { search, events } = createFused(new Promise(() => undefined))
    expect(await search('lexical')).toMatchObject({ degraded: false, hits: { length: 3 } })
    expect(events).toEqual(['as without vectors', 'words, 100'])
  })

  it('answers by the words alone, and says so, where the question is not embedded', async () => {
    const { promise, resolve } = embedder()
    const { search, events } = createFused(promise)
    resolve(undefined)
    const { hits, degraded } = await search()
    expect(hits.map(({ documentId }) => documentId)).toEqual(['doc_1', 'doc_2', 'doc_3'])
    expect([degraded, events]).toEqual([true, ['words, 100', 'words, 100']])
  })

  it('ends with the reason of the embedder where that gives one', async () => {
    const gone = new Error('the caller left')
    const { promise, reject } = embedder()
    const { search } = createFused(promise)
    reject(gone)
    await expect(search()).rejects.toBe(gone)
  })
})
