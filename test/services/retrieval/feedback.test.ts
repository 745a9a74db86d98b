import { expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { IndexMatch, IndexQuery } from '../../../src/indexes/chunk-index.ts'
import { FEEDBACK_CHUNKS, MIN_RESCORED } from '../../../src/indexes/feedback.ts'
import {
  analyseChunks,
  createFeedback,
  createTermMemory,
} from '../../../src/services/retrieval/feedback.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'
import { batchOf } from '../../contracts/chunk-index.fixture.ts'

const analyser = createAnalyser('english')
const query = { terms: analyser.query('turbine'), limit: 3 }

/** An index that finds the keys 1 … `matching`, and puts the second before the first with feedback. */
function createForTest(matching: number, textOf = (key: number) => `text ${key}`) {
  const searches: IndexQuery[] = []
  const index = createFeedback({
    termsOf: analyseChunks({
      analyser,
      store: { readChunks: async (keys) => keys.map((key) => chunkOf(key, textOf(key))) },
    }),
    index: {
      async search(asked, signal): Promise<IndexMatch[]> {
        signal?.throwIfAborted()
        searches.push(asked)
        const count = Math.min(asked.limit, matching)
        const found = Array.from({ length: count }, (_, i) => ({ key: i + 1, score: 1_000 - i }))
        const [first, second, ...others] = found
        if (!asked.feedback || !first || !second) return found
        return [{ ...second, score: 2_000 }, first, ...others]
      },
    },
  })
  return { index, searches }
}

function chunkOf(key: number, text: string): StoredChunk {
  const source = {
    id: `${key}`,
    documentId: `${key}`,
    title: undefined,
    url: undefined,
    metadata: undefined,
  }
  return { ...source, key, ordinal: 0, text, heading: '', start: 0, end: text.length }
}

it('orders what it found anew by what the best chunks hold, the better ones counting more', async () => {
  const { index, searches } = createForTest(1_000)
  expect(await index.search(query)).toHaveLength(3)
  const [first, second] = searches
  expect(first).toMatchObject({ limit: MIN_RESCORED })
  expect(first?.feedback).toBeUndefined()
  expect(second).toMatchObject({ limit: 3, terms: query.terms })
  const { keys, weights, found } = second?.feedback ?? {}
  expect([...(keys ?? [])]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(weights).toHaveLength(FEEDBACK_CHUNKS)
  expect([...(weights ?? [])]).toEqual([...(weights ?? [])].toSorted((a, b) => b - a))
  expect(weights?.[0]).toBe(1)
  expect(found?.keys).toHaveLength(MIN_RESCORED)
  expect([...(found?.scores ?? [])].slice(0, 3)).toEqual([1_000, 999, 998])
})

it('leaves the best hit in its place, with the highest score', async () => {
  const { index } = createForTest(1_000)
  expect(await index.search(query)).toEqual([
    { key: 1, score: 2_000 },
    { key: 2, score: 2_000 },
    { key: 3, score: 998 },
  ])
  expect(await index.search({ ...query, limit: 1 })).toMatchObject([{ key: 1 }])
})

it('looks as deep as it is asked to', async () => {
  const { index, searches } = createForTest(10_000)
  expect(await index.search({ ...query, limit: 4_000 })).toHaveLength(4_000)
  expect(searches[1]?.feedback?.found.keys).toHaveLength(4_000)
})

it('answers a query that few chunks match with those alone', async () => {
  const { index, searches } = createForTest(FEEDBACK_CHUNKS - 1)
  expect((await index.search(query)).map(({ key }) => key)).toEqual([1, 2, 3])
  expect(searches).toHaveLength(1)
})

it('counts a chunk that several documents hold once', async () => {
  const { index, searches } = createForTest(100, () => 'the same everywhere')
  await index.search(query)
  expect(searches[1]?.feedback?.terms.size).toBe(1)
})

it('stops between its two searches when the caller has gone', async () => {
  const gone = new AbortController()
  const { index } = createForTest(100, (key) => {
    gone.abort(new Error('gone'))
    return `text ${key}`
  })
  await expect(index.search(query, gone.signal)).rejects.toThrow('gone')
})

/** What is learned from chunks: each holds its key as a word. */
function learned(...keys: number[]) {
  const terms = batchOf(keys.map((key) => [`${key}`, 'turbine']))
  return { keys, terms }
}

it('gives the terms of each chunk as they were learned, in the order asked for', () => {
  const memory = createTermMemory()
  expect(memory.lacks([1, 2])).toEqual([1, 2])
  memory.add(learned(1, 2, 3))
  expect(memory.lacks([3, 4, 1])).toEqual([4])
  expect(memory.recall([3, 4, 1])).toEqual([
    { key: 3, terms: batchOf([['3', 'turbine']]) },
    { key: 1, terms: batchOf([['1', 'turbine']]) },
  ])
})

it('forgets what was not asked for lately, and keeps what was', () => {
  const memory = createTermMemory()
  memory.add(learned(1, 2))
  for (let key = 3; key <= 9_000; key++) {
    memory.lacks([1])
    memory.add(learned(key))
  }
  expect(memory.lacks([1, 2, 9_000])).toEqual([2])
})
