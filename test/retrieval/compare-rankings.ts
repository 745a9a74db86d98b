import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEPTH, measure } from '@agent-server/evaluation'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex } from '@agent-server/search'
import { createAnalyser } from '@agent-server/search'
import { readCorpus, readQueries } from '../../scripts/eval/collection.ts'
import { openEmbeddedIndex } from '../support/embedded-index.ts'

const COLLECTIONS = new URL('../../../../shared/data/', import.meta.url)
export const hasCollections = existsSync(COLLECTIONS)

const analyser = createAnalyser('english')

/**
 * How good the rankings of a judged collection are by the embedded index and by another one, as nDCG@10 of every
 * `step`th query.
 */
export async function compareRankings(
  collection: 'cranfield' | 'cacm',
  other: ChunkIndex,
  step = 1,
) {
  const folder = fileURLToPath(new URL(collection, COLLECTIONS))
  const documents = await Array.fromAsync(readCorpus(folder))
  const batch = analyser.batch(documents.map((document) => ({ ...document, heading: '' })))
  const keys = Uint32Array.from(documents, (_, key) => key)
  const embedded = await openEmbeddedIndex()
  const queries = (await readQueries(folder)).filter((_, place) => place % step === 0)
  const ndcgOf = async (index: ChunkIndex) => {
    await index.add(keys, batch, [])
    let sum = 0
    for (const { text, relevant } of queries) {
      const query = { mode: 'lexical', terms: analyser.query(text), limit: DEPTH } as const
      const { candidates } = await index.search(everything(), query)
      const ranking = candidates.map(({ key }) => documents[key]?._id ?? '')
      sum += measure(ranking, { relevant, graded: false }).ndcg
    }
    return sum / queries.length
  }
  return { embedded: await ndcgOf(embedded), other: await ndcgOf(other) }
}
