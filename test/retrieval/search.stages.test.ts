import { everything, type Visibility } from '@agent-server/lib/visibility.ts'
import type { RerankInput } from '@agent-server/models'
import type { ChunkQuery } from '@agent-server/search'
import { createAnalyser } from '@agent-server/search'
import type { StoredChunk } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createRetrieval, type Search } from '../../src/retrieval/search.ts'

const analyser = createAnalyser('english')
const VECTOR = Float32Array.of(1)
/** Three, and some to spare; only what is fused needs more. */
const LIMIT_ALONE = 19

const chunkOf = (key: number): StoredChunk => ({
  key,
  id: `d-1-${key}`,
  documentId: 'd',
  ordinal: key,
  text: `Text ${key}`,
  title: undefined,
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
  heading: '',
  start: 0,
  end: 6,
  page: 3,
  pageEnd: 4,
})

interface Parts {
  /** How many chunks the index finds, from the key 1 on. */
  count?: number
  /** The question's vector; search is lexical if there is none. */
  vector?: Float32Array<ArrayBuffer>
  hasAllVectors?: boolean
  /** The reranking model. */
  scores?: (texts: readonly string[]) => number[] | undefined
}

/** Retrieval with the stages that a test asks for, and what its models and the index were given. */
function createForTest({ count = 3, vector, hasAllVectors = true, scores }: Parts) {
  const embedded: string[] = []
  const reranked: number[] = []
  const asked: ChunkQuery[] = []
  const keys = Array.from({ length: count }, (_, index) => index + 1)
  const index = {
    async search(_visibility: Visibility, query: ChunkQuery) {
      asked.push(query)
      const stages = {
        lexical: { lexical: 1 },
        dense: { dense: 1 },
        hybrid: { lexical: 1, dense: 1 },
      }[query.mode]
      const found = keys.slice(0, query.limit)
      const candidates = found.map((key) => ({ key, score: 100 - key, ...stages }))
      const degraded = query.mode !== 'lexical' && (await query.vector) === undefined
      return { candidates, exhausted: found.length < query.limit, degraded }
    },
  }
  const embedding = vector && {
    async query(text: string) {
      embedded.push(text)
      return vector
    },
  }
  const reranking = scores && {
    gives: 'relevance' as const,
    async scores({ texts }: RerankInput) {
      reranked.push(texts.length)
      return scores(texts)
    },
  }
  const retrieval = createRetrieval({
    index,
    store: {
      listChunks: async () => undefined,
      readChunks: async (_visibility, wanted) => ({ chunks: wanted.map(chunkOf), missing: [] }),
    },
    analyseQuery: analyser.query,
    termsOfChunk: (chunk) => analyser.batch([chunk]).terms,
    reranking,
    embedding,
    hasAllVectors: () => hasAllVectors,
  })
  const ask = async (search: Partial<Search> = {}) => {
    const asked = { visibility: everything(), query: 'text', topK: 3, ...search }
    const { hits, degraded } = await retrieval.search(asked)
    return { hits, degraded, found: hits.map(({ id }) => Number(id.slice(4))) }
  }
  return { ask, embedded, reranked, asked }
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

  it('do nothing where no hit is asked for', async () => {
    const { ask, embedded } = createForTest({ vector: VECTOR })
    expect(await ask({ topK: 0 })).toMatchObject({ hits: [], degraded: false })
    expect(embedded).toEqual([])
  })
})

describe('A search by meaning', () => {
  it.each(['dense', 'hybrid'] as const)('is refused without a model: %s', async (mode) => {
    const refused = createForTest({}).ask({ mode })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', param: 'mode' })
    expect((await createForTest({}).ask({ mode: 'lexical' })).found).toEqual([1, 2, 3])
  })

  it.each([
    ['dense', 'dense', LIMIT_ALONE],
    ['hybrid', 'hybrid', 100],
    [undefined, 'hybrid', 100],
  ] as const)('asks the index for it: %s', async (mode, chosen, limit) => {
    const { ask, asked } = createForTest({ vector: VECTOR })
    expect(await ask({ mode })).toMatchObject({ degraded: false })
    const terms = analyser.query('text')
    expect(asked).toMatchObject([{ mode: chosen, terms, limit }])
    expect(await asked[0]?.vector).toEqual(VECTOR)
  })

  it('embeds nothing where words alone are asked for', async () => {
    const { ask, asked, embedded } = createForTest({ vector: VECTOR })
    expect(await ask({ mode: 'lexical' })).toMatchObject({ degraded: false })
    expect([asked[0]?.mode, asked[0]?.vector, embedded]).toEqual(['lexical', undefined, []])
  })

  it('embeds nothing, and says so, while the index lacks vectors', async () => {
    const { ask, embedded } = createForTest({ vector: VECTOR, hasAllVectors: false })
    expect(await ask()).toMatchObject({ degraded: true })
    expect(embedded).toEqual([])
  })
})

describe('A reranked search', () => {
  it('is in the order of the model, whose equals keep theirs, and no longer than asked for', async () => {
    const best = (texts: readonly string[]) =>
      texts.map((text) => (text.endsWith('50') ? 0.9 : 0.4))
    const { ask, reranked } = createForTest({ count: 100, scores: best })
    const { hits, found, degraded } = await ask()
    expect([found, degraded]).toEqual([[50, 1, 2], false])
    expect(hits.map(({ score }) => score)).toEqual([0.9, 0.4, 0.4])
    expect(reranked).toEqual([50])
  })

  it('stays as it was found, degraded, where the model does not answer', async () => {
    const { ask } = createForTest({ scores: () => undefined })
    expect(await ask()).toMatchObject({ found: [1, 2, 3], degraded: true })
  })
})
