import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readCorpus, readQueries } from '../../../scripts/eval/collection.ts'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { MAX_CHUNKS_BUILT } from '../../../src/indexes/embedded/segment.ts'
import { DEPTH, mean, measure } from '../../../src/operator/evaluation/measures.ts'

const COLLECTIONS = new URL('../../../../shared/data/', import.meta.url)

/** nDCG@10 of the index over a judged collection, each document being one chunk, every relevant one counting the same. */
async function ndcgOn(collection: string): Promise<number> {
  const folder = fileURLToPath(new URL(collection, COLLECTIONS))
  const analyser = createAnalyser('english')
  const documents = await Array.fromAsync(readCorpus(folder))
  const batch = analyser.batch(documents.map((document) => ({ ...document, heading: '' })))
  const keys = Uint32Array.from(documents, (_, i) => i)
  const index = createLexicalIndex([])
  for (let from = 0; from < batch.size; from += MAX_CHUNKS_BUILT) {
    index.add(keys, batch, from, Math.min(batch.size, from + MAX_CHUNKS_BUILT))
  }
  const queries = await readQueries(folder)
  const found = queries.map(({ text, relevant }) => {
    const { keys } = index.search(analyser.query(text), DEPTH)
    const ranking = Array.from(keys, (key) => documents[key]?._id ?? '')
    return measure(ranking, { relevant, graded: false }).ndcg
  })
  return mean(found)
}

describe.skipIf(!existsSync(COLLECTIONS))(
  'Lexical relevance (where the judged collections are)',
  () => {
    it('reaches nDCG@10 0.385 on Cranfield', async () => {
      expect(await ndcgOn('cranfield')).toBeGreaterThanOrEqual(0.385)
    })

    it('reaches nDCG@10 0.50 on CACM', async () => {
      expect(await ndcgOn('cacm')).toBeGreaterThanOrEqual(0.5)
    })
  },
)
