import { everything, narrowed, type Visibility } from '@agent-server/lib/visibility.ts'
import { Hit } from '@agent-server/schemas/query.ts'
import type { ChunkQuery, QueryTerms } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { takes } from '../../packages/search/test/contracts/takes.ts'
import { createRetrieval } from '../../src/retrieval/search.ts'

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
    collection: undefined,
    conversation: undefined,
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
}

/** Retrieval over a fixed ranking and a fixed document store, and what each of them was asked. */
function createForTest({ matched, stored = matched.map((key) => chunkOf(key)) }: Corpus) {
  const searches: (ChunkQuery & { visibility: Visibility })[] = []
  const reads: number[][] = []
  const analysed: string[] = []
  const byKey = new Map(stored.map((chunk) => [chunk.key, chunk]))
  const retrieval = createRetrieval({
    index: {
      async search(visibility, query, signal) {
        signal?.throwIfAborted()
        searches.push({ visibility, ...query })
        const found = matched.slice(0, query.limit)
        const candidates = found.map((key) => ({ key, score: 10_000 - key }))
        return { candidates, exhausted: found.length < query.limit, degraded: false }
      },
    },
    store: {
      listChunks: async () => undefined,
      async readChunks({ filter }, keys) {
        reads.push([...keys])
        const chunks = keys.flatMap((key) => byKey.get(key) ?? [])
        return {
          chunks: chunks.filter(({ metadata }) => !filter || takes(filter, metadata)),
          missing: keys.filter((key) => !byKey.has(key)),
        }
      },
    },
    analyseQuery: (text) => {
      analysed.push(text)
      return TERMS
    },
    termsOfChunk: () => TERMS.terms,
    hasAllVectors: () => true,
  })
  const search = (topK: number, signal?: AbortSignal) =>
    retrieval
      .search({ visibility: everything(), query: 'When?', topK }, signal)
      .then(({ hits }) => hits)
  const found = async (topK: number) =>
    (await search(topK)).map(({ documentId }) => Number(documentId.slice(4)))
  return { retrieval, search, found, searches, reads, analysed }
}

describe('a search', () => {
  it('asks the index for the analysed query and shows its best chunks in their order', async () => {
    const { found, searches, analysed } = createForTest({ matched: [3, 1, 2, 5, 4] })
    expect(await found(3)).toEqual([3, 1, 2])
    expect(analysed).toEqual(['When?'])
    expect(searches.map(({ terms }) => terms)).toEqual([TERMS])
  })

  it('favours documents that the question names, and analyses the years of its periods as words', async () => {
    const matched = [1, 2, 3, 4]
    const stored = matched.map((key) => chunkOf(key, { title: `Report ${2015 + key}.pdf` }))
    const { retrieval, analysed } = createForTest({ matched, stored })
    const query = 'What was in the report of FY18?'
    const { hits } = await retrieval.search({ visibility: everything(), query, topK: 4 })
    expect(hits.map(({ documentId }) => documentId)).toEqual(['doc_3', 'doc_1', 'doc_2', 'doc_4'])
    expect(analysed).toContain('What was in the report of FY 2018?')
  })

  it.each([1, 2, 5, 20, 100])('answers exactly %i chunks where there are more', async (topK) => {
    expect(await createForTest({ matched: keysTo(500) }).found(topK)).toEqual(keysTo(topK))
  })

  it.each([0, 1, 4])('answers %i chunks where there are no more', async (count) => {
    expect(await createForTest({ matched: keysTo(count) }).found(5)).toEqual(keysTo(count))
  })

  it('scores each hit by what it contains of the question, whatever the index scored', async () => {
    const hits = await createForTest({ matched: [2, 1] }).search(5)
    expect(hits.map(({ score }) => score)).toEqual([1, 1])
  })

  it('reads no more from the document store than it shows, where all of it is there', async () => {
    const { search, reads } = createForTest({ matched: keysTo(500) })
    await search(5)
    expect(reads).toEqual([[1, 2, 3, 4, 5]])
  })

  it('analyses no more than ten thousand code units', async () => {
    const { retrieval, analysed } = createForTest({ matched: [] })
    await retrieval.search({ visibility: everything(), query: 'q'.repeat(50_000), topK: 5 })
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
      score: 1,
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
        async search(_visibility, { limit }, signal) {
          signal?.throwIfAborted()
          const candidates = keysTo(limit).map((key) => ({ key, score: 1 }))
          return { candidates, exhausted: false, degraded: false }
        },
      },
      store: {
        listChunks: async () => undefined,
        async readChunks() {
          call.abort(gone)
          return { chunks: [], missing: [] }
        },
      },
      analyseQuery: () => TERMS,
      termsOfChunk: () => TERMS.terms,
      hasAllVectors: () => true,
    })
    const hits = retrieval.search({ visibility: everything(), query: 'a', topK: 5 }, call.signal)
    await expect(hits).rejects.toBe(gone)
  })
})

it('what is visible is the index’s to find; what it does not know yet has changed is left out', async () => {
  const stored = [2026, 2026, 1999].map((year, key) => chunkOf(key, { metadata: { year } }))
  const { retrieval, searches } = createForTest({ matched: [2, 1, 0], stored })
  const visibility = narrowed(everything(), { field: 'year', eq: 2026 })
  expect((await retrieval.search({ query: 'When?', topK: 2, visibility })).hits).toHaveLength(2)
  expect(searches).toMatchObject([{ visibility, limit: 18 }])
})

it('a failure of the document store is the search’s own', async () => {
  const failure = new Error('disk')
  const found = { candidates: [{ key: 1, score: 1 }], exhausted: true, degraded: false }
  const retrieval = createRetrieval({
    index: { search: async () => found },
    store: { readChunks: () => Promise.reject(failure), listChunks: async () => undefined },
    analyseQuery: () => TERMS,
    termsOfChunk: () => TERMS.terms,
    hasAllVectors: () => true,
  })
  await expect(retrieval.search({ visibility: everything(), query: 'a', topK: 5 })).rejects.toBe(
    failure,
  )
})
