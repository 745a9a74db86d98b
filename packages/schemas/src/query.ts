import { filledText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { InCollection } from './collection.ts'
import { refusal } from './invalid-request.ts'
import { Filter, Metadata } from './metadata.ts'

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

const SCORE =
  'From 0 to 1, comparable between questions of one `mode`. `lexical`: the share of the question’s words, stop words aside, that the chunk contains; a corrected word counts 0.7. `dense`: the cosine similarity of question and chunk, at least 0; how high it is for a good match depends on the embedding model. `hybrid`: 0.4 × the former + 0.6 × the latter. With a reranking model: the relevance that it gives; the chat model as a reranker gives an order only.'

/** The minimum score of any search; `null` counts as absent. */
export const MinScore = z
  .number('must be a number from 0 to 1')
  .min(0)
  .max(1)
  .describe('Leaves out chunks with a lower `score`, 0 to 1: an answer may then have no hits.')

export const SearchMode = z
  .enum(['hybrid', 'lexical', 'dense'])
  .describe(
    '`hybrid`: keywords and embeddings. `lexical`: keywords only. `dense`: embeddings only. Default: `hybrid` if the server has an embedding model, otherwise `lexical`.',
  )

/** How often to search for one question. */
export const Effort = z
  .enum(['low', 'medium', 'high'])
  .describe(
    '`low`, the default: one search. `medium`: the chat model splits the question into parts, which are also searched for. `high`: also, the model judges whether the passages are sufficient and searches for what is missing, in at most 3 rounds, 10 searches, 30,000 tokens and 60 seconds. `medium` and `high` are refused without a chat model; their tokens count towards the usage.',
  )

export const SearchStep = z
  .discriminatedUnion('action', [
    z.object({
      action: z.literal('plan'),
      queries: z.array(z.string()).describe('What the model wants to search for.'),
    }),
    z.object({
      action: z.literal('search'),
      query: z.string().describe('What was searched for.'),
      found: z.int().describe('Number of chunks that no earlier search found.'),
    }),
    z.object({
      action: z.literal('judge'),
      sufficient: z.boolean().describe('Whether the model considers the chunks sufficient.'),
      queries: z.array(z.string()).describe('What the model wants to search for next.'),
    }),
    z.object({
      action: z.literal('stop'),
      reason: z
        .enum(['rounds', 'searches', 'tokens', 'seconds', 'model'])
        .describe('The bound that was reached; `model`: the chat model failed.'),
    }),
  ])
  .meta({
    id: 'SearchStep',
    description: 'A step of a search with `effort` medium or high, or for several questions.',
  })

export const PictureDescription = z
  .literal(true)
  .optional()
  .describe(
    '`text` is a description of a picture by the chat model, not text of the document; `start` and `end` are where the picture is. Absent otherwise.',
  )

export const Hit = z
  .object({
    id: z.string().describe('Chunk identifier.'),
    score: z
      .number()
      .describe(
        `Relevance of the chunk to the query. ${SCORE} Never lower than the score of the next hit.`,
      ),
    text: z.string().describe('Chunk text.'),
    title: z.string().describe('Title of the document; empty if it has none.'),
    documentId: z.string().describe('Identifier of the document.'),
    url: z.string().optional().describe('URL of the original document.'),
    metadata: Metadata.optional(),
    heading: z
      .string()
      .optional()
      .describe(
        'Headings above the chunk, outermost first, joined by ` > `. If the chunk begins in the middle of a table, the names of its columns are the last step.',
      ),
    start: z.int().describe('Start offset of the chunk in the document, in UTF-16 code units.'),
    end: z.int().describe('End offset of the chunk in the document (exclusive).'),
    page: z
      .int()
      .optional()
      .describe('Page or slide on which the chunk begins, from 1. Only for files with pages.'),
    pageEnd: z.int().optional().describe('Page or slide on which the chunk ends.'),
    pictureDescription: PictureDescription,
    sheet: z.string().optional().describe('Sheet of the workbook that contains the row.'),
    row: z
      .int()
      .optional()
      .describe(
        'Row number, from 1, if the hit is a table row. The header and blank rows are not counted.',
      ),
    chunkIds: z
      .array(z.string())
      .optional()
      .describe(
        'In chat, adjacent chunks of a document are merged into one hit, which lists the ids of all of them in order. Absent otherwise.',
      ),
    stages: z
      .object({
        lexical: z
          .number()
          .optional()
          .describe('BM25 score; absent if the chunk is not among the best keyword matches.'),
        dense: z
          .number()
          .optional()
          .describe(
            'Cosine similarity to the query after adjustment towards the best hits; absent if the query was not embedded.',
          ),
        rerank: z
          .number()
          .optional()
          .describe('Relevance according to the reranking model, 0 to 1.'),
      })
      .optional()
      .describe('The chunk’s score in each stage of the search. Only with `explain`.'),
  })
  .meta({
    id: 'Hit',
    examples: [
      {
        id: 'doc_0198c5f28f2e7c1b-1-0',
        score: 0.61,
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
    'A model used by the search did not respond, or cannot read the question, or the vectors are lost. Without the embedding model or the vectors, search is lexical only; without the reranking model, hits keep their original order; without the chat model, a follow-up is searched for together with the previous questions, and `effort` ends early. In `/readiness`, also set if ingestion has stopped. Absent otherwise.',
  )

/** Present in an answer only if there are any. */
export const UNKNOWN_CITATIONS = z
  .array(z.int())
  .optional()
  .describe(
    'Citation numbers in the answer that match no hit; the answer shows `[?]` instead. Absent if there are none.',
  )

export const Correction = z
  .object({
    typed: z.string().describe('The word as it was typed.'),
    corrected: z.string().describe('The word of the documents that was searched for.'),
  })
  .meta({ id: 'Correction', description: 'A word in which a typing error was assumed.' })

/** Parts of the tokens, if the model reports them. */
export const TOKEN_DETAILS = {
  cachedTokens: z
    .int()
    .optional()
    .describe('Prompt tokens served from the model’s cache, if the model reports them.'),
  cacheWriteTokens: z
    .int()
    .optional()
    .describe('Prompt tokens written to the model’s cache, if the model reports them.'),
  reasoningTokens: z
    .int()
    .optional()
    .describe('Generated tokens of the model’s thinking, if the model reports them.'),
}

export const Usage = z
  .object({
    promptTokens: z.int().describe('Tokens of the prompts.'),
    completionTokens: z.int().describe('Tokens that the model generated.'),
    totalTokens: z.int().describe('The sum of both.'),
    ...TOKEN_DETAILS,
  })
  .meta({ id: 'Usage', description: 'Total tokens of all calls of the chat model.' })

export const QueryRequest = z
  .object({
    query: filledText(10_000).describe('The question or text to search for.'),
    topK: optionalOr(TopK, 5),
    minScore: optional(MinScore),
    filter: optional(Filter),
    mode: optional(SearchMode),
    effort: optional(Effort),
    collection: optional(InCollection),
    explain: optional(z.boolean()).describe(
      'Include the score from each stage of the search in each hit.',
    ),
  })
  .meta({
    id: 'QueryRequest',
    examples: [{ query: 'When does the library open?', topK: 3 }],
  })

export const QueryResponse = z
  .object({
    query: z.string().describe('The original query.'),
    hits: z.array(Hit).describe('The matching chunks, best first.'),
    corrections: z
      .array(Correction)
      .optional()
      .describe(
        'Words that no document has, and that the search took for typing errors. Absent if there are none.',
      ),
    degraded: DEGRADED,
    steps: z
      .array(SearchStep)
      .optional()
      .describe(
        'What was done. Only with `effort` medium or high, or if several questions are asked.',
      ),
    usage: Usage.optional().describe(
      'Tokens of the search; absent if no chat model was used, or it does not report them.',
    ),
  })
  .meta({ id: 'QueryResult' })

export type Correction = z.output<typeof Correction>
export type Effort = z.output<typeof Effort>
export type SearchStep = z.output<typeof SearchStep>
export type SearchMode = z.output<typeof SearchMode>
export type Hit = z.output<typeof Hit>
export type Usage = z.output<typeof Usage>
export type QueryRequest = z.output<typeof QueryRequest>
export type QueryResponse = z.output<typeof QueryResponse>

/** Throws `invalid_request` if the effort takes a model that generates, and there is none. */
export function checkEffort(effort: Effort, { generates }: { generates: boolean }): void {
  if (effort === 'low' || generates) return
  const message = `must be low: ${effort} requires a model that generates, and CHAT_MODEL=extractive only quotes`
  throw refusal('effort', message)
}
