import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readCorpus, readQueries } from '../../../scripts/eval/collection.ts'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import type { ChunkIndex, IndexMatch } from '../../../src/indexes/chunk-index.ts'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { MAX_CHUNKS_BUILT } from '../../../src/indexes/embedded/segment.ts'
import type { QdrantIndex } from '../../../src/indexes/qdrant/qdrant-index.ts'
import { analyseChunks, createFeedback } from '../../../src/services/retrieval/feedback.ts'
import { DEPTH, measure } from '../../../ui/search/evaluation.ts'
import { readStoredChunks } from './judged-chunks.ts'

const CRANFIELD = new URL('../../../../shared/data/cranfield', import.meta.url)
export const hasCranfield = existsSync(CRANFIELD)

const analyser = createAnalyser('english')

/**
 * How good the rankings of Cranfield are by each index with feedback, as nDCG@10, and which part of them is the same;
 * of every `step`th query.
 */
export async function compareRankings(open: () => Promise<QdrantIndex>, step = 1) {
  const folder = fileURLToPath(CRANFIELD)
  const documents = await Array.fromAsync(readCorpus(folder))
  const batch = analyser.batch(documents.map((document) => ({ ...document, heading: '' })))
  const keys = Uint32Array.from(documents, (_, key) => key)
  const embedded = createLexicalIndex([])
  for (let from = 0; from < batch.size; from += MAX_CHUNKS_BUILT) {
    embedded.add(keys, batch, from, Math.min(batch.size, from + MAX_CHUNKS_BUILT))
  }
  const shared = await open()
  await shared.add(keys, batch, [])

  const chunks = readStoredChunks(documents)
  const store = { readChunks: async (wanted: readonly number[]) => chunks(wanted) }
  const termsOf = analyseChunks({ store, analyser })
  const results = { embedded: 0, shared: 0, same: 0 }
  const queries = (await readQueries(folder)).filter((_, place) => place % step === 0)
  for (const { text, relevant } of queries) {
    const rank = async (index: Pick<ChunkIndex, 'search'>) => {
      const query = { terms: analyser.query(text), limit: DEPTH }
      const found = await createFeedback({ index, termsOf }).search(query)
      return found.map(({ key }) => documents[key]?._id ?? '')
    }
    const [ours, theirs] = [await rank({ search: searchBy(embedded) }), await rank(shared)]
    results.embedded += measure(ours, { relevant, graded: false }).ndcg / queries.length
    results.shared += measure(theirs, { relevant, graded: false }).ndcg / queries.length
    if (ours.join() === theirs.join()) results.same += 1 / queries.length
  }
  return results
}

function searchBy(index: ReturnType<typeof createLexicalIndex>): ChunkIndex['search'] {
  return async ({ terms, feedback, only, limit }) => {
    const { keys, scores } = feedback
      ? index.rescore(terms, limit, feedback)
      : index.search(terms, limit, only)
    return Array.from(keys, (key, i): IndexMatch => ({ key, score: scores[i] ?? 0 }))
  }
}
