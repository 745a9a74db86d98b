import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DEPTH, mean, measure } from '@agent-server/evaluation'
import { everything } from '@agent-server/lib/visibility.ts'
import { createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { readCorpus, readQueries } from '../../scripts/eval/collection.ts'
import { openEmbeddedIndex } from '../support/embedded-index.ts'

const COLLECTIONS = new URL('../../../../shared/data/', import.meta.url)

/** nDCG@10 of the index over a judged collection, each document being one chunk, every relevant one counting the same. */
async function ndcgOn(collection: string): Promise<number> {
  const folder = fileURLToPath(new URL(collection, COLLECTIONS))
  const analyser = createAnalyser('english')
  const documents = await Array.fromAsync(readCorpus(folder))
  const batch = analyser.batch(documents.map((document) => ({ ...document, heading: '' })))
  const keys = Uint32Array.from(documents, (_, i) => i)
  const index = await openEmbeddedIndex()
  await index.add(keys, batch, [])
  const found: number[] = []
  for (const { text, relevant } of await readQueries(folder)) {
    const query = { mode: 'lexical', terms: analyser.query(text), limit: DEPTH } as const
    const { candidates } = await index.search(everything(), query)
    const ranking = candidates.map(({ key }) => documents[key]?._id ?? '')
    found.push(measure(ranking, { relevant, graded: false }).ndcg)
  }
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
