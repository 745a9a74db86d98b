import { expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser.ts'
import type { IndexMatch, IndexQuery } from '../../../src/indexes/chunk-index.ts'
import { FEEDBACK_CHUNKS, withFeedback } from '../../../src/services/retrieval/with-feedback.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const analyser = createAnalyser('english')
const query = { terms: analyser.query('turbine'), limit: 3 }

/** An index that finds the keys 1 … `matching`, and an authority in which `textOf` says what they hold. */
function createForTest(matching: number, textOf = (key: number) => `text ${key}`) {
  const searches: IndexQuery[] = []
  const index = withFeedback({
    analyser,
    index: {
      async search(asked, signal): Promise<IndexMatch[]> {
        signal?.throwIfAborted()
        searches.push(asked)
        const count = Math.min(asked.limit, matching)
        return Array.from({ length: count }, (_, i) => ({ key: i + 1, score: 16 - i }))
      },
    },
    store: { readChunks: async (keys) => keys.map((key) => chunkOf(key, textOf(key))) },
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

it('searches again with what the best chunks hold, the better ones counting more', async () => {
  const { index, searches } = createForTest(100)
  expect(await index.search(query)).toHaveLength(3)
  const [first, second] = searches
  expect(first).toMatchObject({ limit: FEEDBACK_CHUNKS })
  expect(first?.feedback).toBeUndefined()
  expect(second).toMatchObject({ limit: 3, terms: query.terms })
  const weights = [...(second?.feedback?.weights ?? [])]
  expect(weights).toHaveLength(FEEDBACK_CHUNKS)
  expect(weights).toEqual(weights.toSorted((a, b) => b - a))
  expect(weights[0]).toBe(1)
})

it('answers a query that few chunks match with those alone', async () => {
  const { index, searches } = createForTest(FEEDBACK_CHUNKS - 1)
  expect((await index.search(query)).map(({ key }) => key)).toEqual([1, 2, 3])
  expect(searches).toHaveLength(1)
})

it('hears a passage that several documents hold once', async () => {
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
