import { z } from 'zod'
import { filledText } from '../../schemas/fields.ts'
import { renderChunks } from '../agent/citations.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { defineTool } from './define-tool.ts'

const MAX_CHUNKS = 20

/** Searches the corpus again; what it finds can be cited like the chunks that came with the question. */
export function semanticSearch(retrieval: Retrieval, defaultTopK: number) {
  return defineTool({
    name: 'semantic_search',
    title: 'Semantic search',
    description:
      'Search the documents again, with other words or for another part of the question. Returns numbered passages to cite.',
    input: z.object({
      query: filledText(2_000).describe('What to look for, in the words of the documents.'),
      topK: z
        .int()
        .min(1)
        .max(MAX_CHUNKS)
        .default(Math.min(defaultTopK, MAX_CHUNKS))
        .describe(`Passages, 1 to ${MAX_CHUNKS}.`),
    }),
    async run(query, { citations, filter, mode, searched }, signal) {
      const { hits } = await retrieval.search({ ...query, filter, mode }, signal)
      const numbered = citations.add(hits)
      searched?.(query.query, numbered)
      return renderChunks(numbered, citations.key)
    },
  })
}
