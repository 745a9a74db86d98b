import { Flag } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { RetrievalMode } from '../agent.ts'
import { ErrorFrame } from '../chat.ts'
import { DEGRADED, TOKEN_DETAILS } from '../query.ts'

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

const Check = z.object({
  state: z.enum(['ok', 'failed']).describe('Whether the part works.'),
  milliseconds: z.number().describe('Duration of the check in milliseconds.'),
  message: z.string().optional().describe('The reason for a failure.'),
})

/** The progress of what the chat model writes in the background for chunks to be found by. */
const WritingProgress = z.object({
  state: z
    .enum(['done', 'writing', 'waiting'])
    .describe('`waiting`: the chat model is not working, see `reason`.'),
  missing: z.int().describe('How many are still to be written, as last counted.'),
  refused: z.int().describe('How many the chat model did not write.'),
  seconds: z.int().optional().describe('Estimated time until none are missing.'),
  reason: z
    .string()
    .optional()
    .describe('Why the chat model is not working, or wrote nothing the last time.'),
  tokens: z.int().describe('Tokens used for them since the server was started.'),
})

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']).describe('Whether the server can answer.'),
    checks: z
      .record(z.string(), Check)
      .describe(
        'One entry per part: `store`, `index`, `agent`, `ingestion` and, if configured, `embedder` and `reranker`. A failure of one of the last three makes the server `degraded` rather than `not_ready`, since it can respond without them.',
      ),
    retrieval: RetrievalMode.describe(
      '`lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.',
    ),
    degraded: DEGRADED,
    warnings: z
      .array(
        z.object({
          code: z
            .enum(['model_closes', 'clock_jumped', 'language_mismatch'])
            .describe(
              '`model_closes`: its provider closes a model. `clock_jumped`: the clock went forward or back; for an hour, nothing is deleted because of its age. `language_mismatch`: many documents or questions are in a language that search is not set up for.',
            ),
          model: z.string().optional().describe('Name of the model that closes.'),
          closesOn: z.iso.date().optional().describe('The day on which it is closed, or was.'),
          message: z.string().describe('What happens, when, and what to do.'),
        }),
      )
      .optional()
      .describe(
        'What works but not well, or not for long; `status` does not depend on it. A model is named from 60 days before it closes.',
      ),
    embeddings: z
      .object({
        state: z
          .enum(['done', 'embedding', 'waiting'])
          .describe(
            '`done`: every chunk of every server has been counted and has its embedding. `waiting`: the embedding model is not working, see `reason`.',
          ),
        missing: z
          .int()
          .describe(
            'Chunks that have no embedding yet and are found by keywords only, as last counted.',
          ),
        refused: z.int().describe('Chunks that the embedding model refused.'),
        seconds: z.int().optional().describe('Estimated time until none are missing.'),
        reason: z.string().optional().describe('Why the embedding model is not working.'),
      })
      .optional()
      .describe('Progress of the embeddings; absent if search is lexical only.'),
    contexts: WritingProgress.optional().describe(
      'Progress of the contexts of chunks; absent if CHUNK_CONTEXT is off.',
    ),
    pictures: WritingProgress.optional().describe(
      'Progress of the descriptions of pictures; absent if PICTURE_DESCRIPTIONS is off.',
    ),
    reEmbedding: z
      .object({
        model: z.string().describe('The new embedding model.'),
        state: z
          .enum(['embedding', 'ready', 'waiting'])
          .describe(
            '`ready`: the next start with this model as EMBEDDING_MODEL switches to the new vectors. `waiting`: will be retried, see `reason`.',
          ),
        done: z.int().describe('Chunks that have their new vector.'),
        total: z.int().describe('Chunks in total.'),
        reason: z.string().optional().describe('Why it waits.'),
      })
      .optional()
      .describe('Progress of the vectors for EMBEDDING_MODEL_NEXT.'),
    documents: z
      .object({
        pending: z.int().describe('Documents waiting for ingestion.'),
        processing: z.int().describe('Documents being ingested.'),
        ready: z.int().describe('Documents that queries find.'),
        failed: z.int().describe('Documents whose ingestion failed.'),
      })
      .optional()
      .describe('Number of documents by status.'),
  })
  .meta({ id: 'Readiness' })

export type Readiness = z.output<typeof Readiness>

const common = {
  id: z.int().describe('Increases with every event.'),
  at: z.iso.datetime().describe('When it happened.'),
}
const MILLISECONDS = z.number().describe('Duration in milliseconds.')

const LogEvent = z
  .object({
    ...common,
    type: z.literal('log'),
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
      .describe('Severity of the log line.'),
    message: z.string().describe('The message that was logged.'),
    requestId: z.string().optional().describe('The request that it belongs to.'),
    details: z.record(z.string(), z.unknown()).describe('Other fields of the log line.'),
  })
  .meta({ id: 'LogEvent' })

export const RequestEvent = z
  .object({
    ...common,
    type: z.literal('request'),
    operation: z
      .string()
      .describe('The operation id in this contract; `unknown` if no route matched.'),
    method: z.string().describe('HTTP method of the request.'),
    path: z.string().describe('Path of the request, without its query.'),
    status: z
      .int()
      .describe(
        'HTTP status; 499 if the client disconnected before the response was complete; the status of the error if a stream failed after it had begun with 200.',
      ),
    milliseconds: MILLISECONDS,
    address: z.string().optional().describe('The client’s IP address.'),
    key: z
      .string()
      .optional()
      .describe('Name and id of the key, unless it was the SERVER_API_KEY.'),
    requestId: z
      .string()
      .optional()
      .describe('Identifies the request, as in the `x-request-id` header.'),
  })
  .meta({ id: 'RequestEvent' })

export const RunEvent = z
  .object({
    ...common,
    type: z.literal('run'),
    outcome: z
      .string()
      .describe('The finish reason, an error code, or `abandoned` if the client disconnected.'),
    milliseconds: MILLISECONDS,
    firstDelta: z.number().optional().describe('Milliseconds until the first text.'),
    promptTokens: z.int().optional().describe('Prompt tokens, as reported by the model.'),
    completionTokens: z.int().optional().describe('Generated tokens, as reported by the model.'),
    ...TOKEN_DETAILS,
    tools: z.record(z.string(), z.int()).describe('How often each tool was called.'),
    runId: z
      .string()
      .optional()
      .describe('For `GET /admin/runs/{id}`; absent if no runs are kept.'),
  })
  .meta({ id: 'RunEvent', description: 'A run of the agent has ended.' })

const SampleEvent = z
  .object({
    ...common,
    type: z.literal('sample'),
    seconds: z.number().describe('Length of the sampled interval.'),
    processors: z.number().describe('Average number of busy processors.'),
    memory: z.int().describe('Resident memory in bytes.'),
    requests: z.int().describe('Requests answered.'),
    failedRequests: z
      .int()
      .describe(
        'Requests that failed with a status of 500 or higher, including streams that failed after they had begun.',
      ),
    requestMilliseconds: z.number().describe('Mean duration of a request.'),
    searches: z.int().describe('Searches made.'),
    searchMilliseconds: z.number().describe('Mean duration of a search.'),
    runs: z.int().describe('Runs that ended.'),
    openRuns: z.int().describe('Runs in progress at the end of the interval.'),
    documents: z.int().describe('Documents that became `ready` or `failed`.'),
  })
  .meta({ id: 'SampleEvent', description: 'Metrics of the server over a short interval.' })

export const ActivityEvent = z
  .discriminatedUnion('type', [LogEvent, RequestEvent, RunEvent, SampleEvent])
  .meta({ id: 'ActivityEvent' })

/** The content of the `data` field of each server-sent event. */
export const ActivityFrame = z
  .union([ActivityEvent, ErrorFrame])
  .meta({ id: 'ActivityFrame', description: 'The JSON object of each server-sent event.' })

export const ActivityQuery = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe('The `id` of the last event you have received.'),
  follow: Flag.default(true).describe('With `false`, the stream ends after the recent history.'),
})

export type ActivityEvent = z.output<typeof ActivityEvent>
export type Sample = Omit<z.output<typeof SampleEvent>, keyof typeof common | 'type'>
