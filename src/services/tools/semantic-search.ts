import { z } from 'zod'
import { filledText } from '../../schemas/fields.ts'
import { TopK } from '../../schemas/query.ts'
import { renderChunks } from '../agent/citations.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { defineTool } from './define-tool.ts'

/** Searches the corpus again; what it finds can be cited like the chunks that came with the question. */
export function semanticSearch(retrieval: Retrieval, defaultTopK: number) {
  return defineTool({
    name: 'semantic_search',
    title: 'Semantic search',
    description:
      'Search the documents again, with other words or for another part of the question. Returns numbered passages to cite.',
    input: z.object({
      query: filledText(2_000).describe('What to look for, in the words of the documents.'),
      topK: TopK.max(20).default(Math.min(defaultTopK, 20)),
    }),
    async run(query, { citations, filter, mode }, signal) {
      const { hits } = await retrieval.search({ ...query, filter, mode }, signal)
      return renderChunks(citations.add(hits), citations.key)
    },
  })
}
