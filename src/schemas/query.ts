import { z } from 'zod'
import { filledText, optional, optionalOr } from './fields.ts'
import { CollectionName, Filter, Metadata } from './metadata.ts'

export const TopK = z
  .int()
  .min(1)
  .max(100)
  .describe('Maximum number of chunks to return, 1 to 100.')

export const ContextTopK = z
  .int()
  .min(0)
  .max(100)
  .describe(
    "Maximum number of context chunks to retrieve, up to 100; 0 retrieves none. Default: the server's TOP_K.",
  )

export const SearchMode = z
  .enum(['hybrid', 'lexical', 'dense'])
  .describe(
    'What the search goes by: words and meaning, words alone, meaning alone. Default: `hybrid` where the server has an embedding model; without one there is `lexical` only.',
  )

export const Hit = z
  .object({
    id: z.string().describe('Chunk identifier.'),
    score: z
      .number()
      .describe('Relevance of the chunk for the query; comparable within one response only.'),
    text: z.string().describe('Chunk text.'),
    title: z.string().describe('Title of the source document; empty if it was given none.'),
    documentId: z.string(),
    url: z.string().optional(),
    metadata: Metadata.optional(),
    heading: z
      .string()
      .optional()
      .describe('The headings above the chunk, outermost first, joined by ` > `.'),
    start: z.int().describe('Where the chunk begins in the document, in UTF-16 code units.'),
    end: z.int().describe('Where the chunk ends in the document (exclusive).'),
    page: z
      .int()
      .optional()
      .describe('The page or slide that the chunk begins on, from 1; of files that have pages.'),
    pageEnd: z.int().optional().describe('The page or slide that it ends on.'),
    sheet: z.string().optional().describe('The sheet of a workbook that the row is of.'),
    row: z
      .int()
      .optional()
      .describe(
        'The row of a table, from 1, where the hit is one; the head and blank rows do not count.',
      ),
    chunkIds: z
      .array(z.string())
      .optional()
      .describe(
        'In chat, neighbouring chunks of a document are joined into one hit, which then names them all, in their order. Absent otherwise.',
      ),
    stages: z
      .object({
        lexical: z
          .number()
          .optional()
          .describe('BM25; absent where the chunk is not among the best by words.'),
        dense: z
          .number()
          .optional()
          .describe(
            'Cosine to the query, moved towards the best hits; absent where it was not embedded.',
          ),
        rerank: z
          .number()
          .optional()
          .describe('What the reranking model gave it; then also the score of the hit.'),
      })
      .optional()
      .describe('What each stage made of the chunk. Only with `explain`.'),
  })
  .meta({
    id: 'Hit',
    examples: [
      {
        id: 'doc_0198c5f28f2e7c1b-1-0',
        score: 4.31,
        text: 'The library opens at nine on weekdays and at ten on Saturdays.',
        title: 'Opening hours',
        documentId: 'doc_0198c5f28f2e7c1b',
        url: 'https://example.org/hours',
        start: 0,
        end: 62,
      },
    ],
  })

/** Present in an answer only if the search was degraded. */
export const DEGRADED = z
  .literal(true)
  .optional()
  .describe(
    'A model that the search asks did not answer, or the vectors are lost: without the embedding model or the vectors it goes by words alone, without the reranking model hits keep their first order, without the chat model a follow-up is searched for together with the questions before it. In `/readiness` also where ingestion stands still. Absent otherwise.',
  )

/** Present in an answer only if there are any. */
export const UNKNOWN_CITATIONS = z
  .array(z.int())
  .optional()
  .describe(
    'Numbers that the model cited and no hit of the run has. In the answer `[?]` stands in their place. Absent where there are none.',
  )

export const QueryRequest = z
  .object({
    query: filledText(10_000).describe(
      'The question or text to find matches for in the vector store.',
    ),
    topK: optionalOr(TopK, 5),
    filter: optional(Filter),
    mode: optional(SearchMode),
    collection: optional(CollectionName),
    explain: optional(z.boolean()).describe(
      'Also tell the score of each stage of the search with each hit.',
    ),
  })
  .meta({
    id: 'QueryRequest',
    examples: [{ query: 'When does the library open?', topK: 3 }],
  })

export const QueryResponse = z
  .object({
    query: z.string().describe('The original query.'),
    hits: z.array(Hit).describe('Matching chunks, best first.'),
    degraded: DEGRADED,
  })
  .meta({ id: 'QueryResponse' })

export type SearchMode = z.output<typeof SearchMode>
export type Hit = z.output<typeof Hit>
export type QueryRequest = z.output<typeof QueryRequest>
export type QueryResponse = z.output<typeof QueryResponse>
