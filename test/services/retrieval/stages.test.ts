import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { ChunkIndex } from '../../../src/indexes/chunk-index.ts'
import { analyseChunks, createFeedback } from '../../../src/services/retrieval/feedback.ts'
import { createHybridSearch } from '../../../src/services/retrieval/hybrid-search.ts'
import {
  createRetrieval,
  NOTHING_TO_FIND,
  type Search,
} from '../../../src/services/retrieval/search.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const analyser = createAnalyser('english')
const VECTOR = Float32Array.of(1)

const chunkOf = (key: number): StoredChunk => ({
  ...{
    key,
    id: `d-1-${key}`,
    documentId: 'd',
    ordinal: key,
    text: `Text ${key}`,
    title: undefined,
  },
  ...{ url: undefined, metadata: undefined, heading: '', start: 0, end: 6, page: 3, pageEnd: 4 },
})

interface Parts {
  /** How many chunks the words find, from the key 1 on. */
  count?: number
  /** The question's vector; search goes by words alone where it is not said. */
  vector?: Float32Array<ArrayBuffer>
  /** Finds the key 9, unless a test says something else. */
  nearest?: ChunkIndex['nearest']
  searchHybrid?: ChunkIndex['searchHybrid']
  /** The reranking model. */
  scores?: (texts: readonly string[]) => number[] | undefined
}

/** Retrieval with the stages that a test asks for, and what its models were given. */
function createForTest({ count = 3, vector, nearest, searchHybrid, scores }: Parts) {
  const embedded: string[] = []
  const reranked: number[] = []
  const filters: unknown[] = []
  const keys = Array.from({ length: count }, (_, index) => index + 1)
  const index = {
    filters: async () => false,
    search: async ({ limit }: { limit: number }) =>
      keys.slice(0, limit).map((key) => ({ key, score: 100 - key })),
    nearest: nearest ?? (async () => [{ key: 9, score: 0.5 }]),
    ...(searchHybrid && { searchHybrid }),
  }
  const store = {
    readChunks: async (wanted: readonly number[]) => wanted.map(chunkOf),
    async matchingKeys(filter: unknown) {
      filters.push(filter)
      return Uint32Array.from(keys)
    },
    readVectors: async (wanted: readonly number[]) => ({
      ...{ keys: Uint32Array.from(wanted), dimension: 1 },
      values: Float32Array.from(wanted, (key) => 1 / key),
    }),
  }
  const feedback = createFeedback({ index, termsOf: analyseChunks({ store, analyser }) })
  const embed = async (text: string) => {
    embedded.push(text)
    return vector
  }
  const reranking = scores && {
    async scores(_query: string, texts: readonly string[]) {
      reranked.push(texts.length)
      return scores(texts)
    },
  }
  const { search } = createRetrieval({
    ...{ index, store, analyseQuery: analyser.query, reranking },
    hybrid: vector && { search: createHybridSearch({ index, feedback, store }), embed },
  })
  const ask = async (asked: Partial<Search> = {}) => {
    const { hits, degraded } = await search({ query: 'text', topK: 3, ...asked })
    return { hits, degraded, found: hits.map(({ id }) => Number(id.slice(4))) }
  }
  return { ask, embedded, reranked, filters }
}

const stagesOf = (search: ReturnType<typeof createForTest>, asked: Partial<Search> = {}) =>
  search.ask({ ...asked, explain: true }).then(({ hits }) => Object.keys(hits[0]?.stages ?? {}))

describe('The stages of a search', () => {
  it('are shown with each hit where they took part, and where they are asked for', async () => {
    const byWords = createForTest({})
    expect(await stagesOf(byWords)).toEqual(['lexical'])
    expect((await byWords.ask()).hits[0]).not.toHaveProperty('stages')
    const fused = createForTest({ vector: VECTOR, scores: (texts) => texts.map(() => 1) })
    expect(await stagesOf(fused)).toEqual(['lexical', 'dense', 'rerank'])
    expect(await stagesOf(fused, { mode: 'dense' })).toEqual(['dense', 'rerank'])
  })

  it('are given earlier questions and the last one, each on its line', async () => {
    const { ask, embedded } = createForTest({ vector: VECTOR })
    await ask({ query: 'And owls?', context: ['Do crows sleep?', 'Hello'] })
    expect(embedded).toEqual(['Hello\nDo crows sleep?\nAnd owls?'])
  })

  it('take the pages of a chunk along', async () => {
    expect((await createForTest({}).ask()).hits[0]).toMatchObject({ page: 3, pageEnd: 4 })
  })

  it('look once where what a filter takes is found, however little that is', async () => {
    const { ask, filters } = createForTest({ count: 1 })
    expect((await ask({ filter: { field: 'a', eq: 1 } })).found).toEqual([1])
    expect(filters).toHaveLength(2)
  })

  it('do nothing where no hit is asked for', async () => {
    const { ask, embedded } = createForTest({ vector: VECTOR })
    expect(await ask({ topK: 0 })).toMatchObject({ hits: [], degraded: false })
    expect(embedded).toEqual([])
  })
})

describe('A search by meaning', () => {
  it('alone finds what is nearest', async () => {
    const { ask } = createForTest({ vector: VECTOR })
    expect(await ask({ mode: 'dense' })).toMatchObject({ found: [9], degraded: false })
  })

  it.each(['dense', 'hybrid'] as const)('is refused without a model: %s', async (mode) => {
    const refused = createForTest({}).ask({ mode })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'mode' })
    expect((await createForTest({}).ask({ mode: 'lexical' })).found).toEqual([1, 2, 3])
  })

  it('is one by words where no chunk has a vector', async () => {
    const { ask } = createForTest({ vector: NOTHING_TO_FIND })
    expect(await ask({ topK: 4 })).toMatchObject({ found: [1, 2, 3], degraded: false })
  })

  it.each(['dense', undefined] as const)(
    '(%s) is one by words, degraded, where the vectors are lost',
    async (mode) => {
      const lost = async () => Promise.reject(new AppError('index_unavailable', 'Lost'))
      const { ask } = createForTest({ vector: VECTOR, nearest: lost })
      expect(await ask({ mode })).toMatchObject({ found: [1, 2, 3], degraded: true })
    },
  )

  it.each([new AppError('store_unavailable', 'Away'), new Error('bug')])(
    'fails as the index does otherwise: %s',
    async (failure) => {
      const { ask } = createForTest({ vector: VECTOR, nearest: () => Promise.reject(failure) })
      await expect(ask()).rejects.toBe(failure)
    },
  )

  it('is left to an index that compares vectors itself, as it was asked', async () => {
    const asked: unknown[] = []
    const { ask } = createForTest({
      vector: VECTOR,
      async searchHybrid({ terms, limit, vector }) {
        asked.push([terms, limit, await vector])
        return { candidates: [{ key: 7, score: 1, lexical: 1, dense: 1 }], exhausted: true }
      },
    })
    expect((await ask()).found).toEqual([7])
    expect(asked).toEqual([[analyser.query('text'), 100, VECTOR]])
  })
})

describe('A reranked search', () => {
  it('is in the order of the model, whose equals keep theirs, and no longer than asked for', async () => {
    const best = (texts: readonly string[]) => texts.map((text) => (text.endsWith('50') ? 2 : 1))
    const { ask, reranked } = createForTest({ count: 100, scores: best })
    const { hits, found, degraded } = await ask()
    expect([found, degraded]).toEqual([[50, 1, 2], false])
    expect(hits.map(({ score }) => score)).toEqual([2, 1, 1])
    expect(reranked).toEqual([50])
  })

  it('stays as it was found, degraded, where the model does not answer', async () => {
    const { ask } = createForTest({ scores: () => undefined })
    expect(await ask()).toMatchObject({ found: [1, 2, 3], degraded: true })
  })
})
