import { z } from 'zod'
import { RetrievalMode } from '../agent.ts'
import { ErrorFrame } from '../chat.ts'
import { Flag } from '../fields.ts'
import { DEGRADED } from '../query.ts'

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

const Check = z.object({
  state: z.enum(['ok', 'failed']),
  milliseconds: z.number(),
  message: z.string().optional().describe('The reason for a failure.'),
})

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    checks: z
      .record(z.string(), Check)
      .describe(
        'One entry per part: `store`, `index`, `agent`, `ingestion` and, if configured, `embedder` and `reranker`. A failure of one of the last three makes the server `degraded` rather than `not_ready`, since it can respond without them.',
      ),
    retrieval: RetrievalMode,
    degraded: DEGRADED,
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
            'Chunks that have no embedding yet and are found by keywords only, as counted last.',
          ),
        refused: z.int().describe('Chunks that the embedding model refused.'),
        seconds: z.int().optional().describe('Estimated time until none are missing.'),
        reason: z.string().optional(),
      })
      .optional()
      .describe('Progress of the embeddings; absent if search is lexical only.'),
    contexts: z
      .object({
        state: z
          .enum(['done', 'writing', 'waiting'])
          .describe('`waiting`: the chat model is not working, see `reason`.'),
        missing: z
          .int()
          .describe('Chunks that have no context yet and are found without it, as counted last.'),
        refused: z.int().describe('Chunks for which the chat model wrote nothing.'),
        seconds: z.int().optional().describe('Estimated time until none are missing.'),
        reason: z.string().optional(),
        tokens: z.int().describe('Tokens that the chat model has used for them since the start.'),
      })
      .optional()
      .describe('Progress of the contexts of chunks; absent if CHUNK_CONTEXT is off.'),
    reEmbedding: z
      .object({
        model: z.string(),
        state: z
          .enum(['embedding', 'ready', 'waiting'])
          .describe(
            '`ready`: the next start with this model as EMBEDDING_MODEL switches to the new vectors. `waiting`: will be retried, see `reason`.',
          ),
        done: z.int(),
        total: z.int(),
        reason: z.string().optional(),
      })
      .optional()
      .describe('Progress of the vectors for EMBEDDING_MODEL_NEXT.'),
    documents: z
      .object({
        pending: z.int(),
        processing: z.int(),
        ready: z.int(),
        failed: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'Readiness' })

export type Readiness = z.output<typeof Readiness>

const common = {
  id: z.int().describe('Increases with every event.'),
  at: z.iso.datetime(),
}
const MILLISECONDS = z.number().describe('Milliseconds.')

const LogEvent = z
  .object({
    ...common,
    type: z.literal('log'),
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
    message: z.string(),
    requestId: z.string().optional(),
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
    method: z.string(),
    path: z.string(),
    status: z.int().describe('499 if the client disconnected before the response was complete.'),
    milliseconds: MILLISECONDS,
    address: z.string().optional().describe('The client’s IP address.'),
    key: z
      .string()
      .optional()
      .describe('Name and id of the key, unless it was the SERVER_API_KEY.'),
    requestId: z.string().optional(),
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
    promptTokens: z.int().optional().describe('As reported by the model.'),
    completionTokens: z.int().optional(),
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
    requests: z.int(),
    failedRequests: z.int().describe('Requests that failed with a status of 500 or higher.'),
    requestMilliseconds: z.number().describe('Mean duration of a request.'),
    searches: z.int(),
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
