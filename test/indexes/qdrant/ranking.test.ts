import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readCorpus, readQueries } from '../../../scripts/eval/collection.ts'
import { DEPTH, mean, measure } from '../../../scripts/eval/measures.ts'
import { createAnalyser } from '../../../src/indexes/analyser.ts'
import type { ChunkIndex, IndexMatch } from '../../../src/indexes/chunk-index.ts'
import { MOST_CHUNKS_BUILT } from '../../../src/indexes/embedded/build-segment.ts'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical-index.ts'
import { withFeedback } from '../../../src/services/retrieval/with-feedback.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { readStoredChunks } from './judged-chunks.ts'
import { qdrantIndexAt } from './qdrant-index.ts'

const CRANFIELD = new URL('../../../../shared/data/cranfield', import.meta.url)
const analyser = createAnalyser('english')

describe.skipIf(!existsSync(CRANFIELD))(
  'The rankings of both indexes (where the judged collections are)',
  () => {
    it('are equally good on Cranfield with feedback, and almost always the same', async () => {
      const folder = fileURLToPath(CRANFIELD)
      const documents = await Array.fromAsync(readCorpus(folder))
      const batch = analyser.batch(documents.map((document) => ({ ...document, heading: '' })))
      const keys = Uint32Array.from(documents, (_, key) => key)
      const lexical = createLexicalIndex([])
      for (let from = 0; from < batch.size; from += MOST_CHUNKS_BUILT) {
        lexical.add(keys, batch, from, Math.min(batch.size, from + MOST_CHUNKS_BUILT))
      }
      const fake = await startFakeQdrant()
      const averageLength = mean([...batch.lengths])
      const shared = qdrantIndexAt(fake.url, { averageLength: async () => averageLength })
      await shared.open()
      await shared.add(keys, batch)
      const embedded = { search: searchBy(lexical) }
      const chunks = readStoredChunks(documents)
      const results = { embedded: 0, shared: 0, same: 0 }
      const queries = await readQueries(folder)
      for (const { text, relevant } of queries) {
        const query = { terms: analyser.query(text), limit: DEPTH }
        const rank = async (index: Pick<ChunkIndex, 'search'>) => {
          const store = { readChunks: async (wanted: readonly number[]) => chunks(wanted) }
          const found = await withFeedback({ index, store, analyser }).search(query)
          return found.map(({ key }) => documents[key]?._id ?? '')
        }
        const [ours, theirs] = [await rank(embedded), await rank(shared)]
        results.embedded += measure(ours, { relevant, graded: false }).ndcg / queries.length
        results.shared += measure(theirs, { relevant, graded: false }).ndcg / queries.length
        if (ours.join() === theirs.join()) results.same++
      }
      expect(fake.mistakes).toEqual([])
      expect(Math.abs(results.embedded - results.shared)).toBeLessThan(0.001)
      expect(results.same / queries.length).toBeGreaterThan(0.98)
    }, 240_000)
  },
)

function searchBy(index: ReturnType<typeof createLexicalIndex>): ChunkIndex['search'] {
  return async ({ terms, feedback, only, limit }) => {
    const { keys, scores } = index.search(terms, limit, feedback, only)
    return Array.from(keys, (key, i): IndexMatch => ({ key, score: scores[i] ?? 0 }))
  }
}
