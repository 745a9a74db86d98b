import { z } from 'zod'
import { RetrievalMode } from '../agent.ts'
import { ErrorFrame } from '../chat.ts'
import { Flag } from '../fields.ts'
import { DEGRADED } from '../query.ts'

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

const Check = z.object({
  state: z.enum(['ok', 'failed']),
  milliseconds: z.number(),
  message: z.string().optional().describe('What fails, where something does.'),
})

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    checks: z
      .record(z.string(), Check)
      .describe(
        'One entry per part: `store`, `index`, `agent`, `ingestion`, and `embedder` and `reranker` where there is one. The last three make the server `degraded`, not `not_ready`: it answers without them.',
      ),
    retrieval: RetrievalMode,
    degraded: DEGRADED,
    meaning: z
      .object({
        state: z
          .enum(['done', 'embedding', 'waiting'])
          .describe('`waiting`: the embedding model does not work now, see `reason`.'),
        missing: z.int().describe('Chunks that words find and meaning does not find yet.'),
        refused: z.int().describe('Chunks that the embedding model does not take.'),
        seconds: z.int().optional().describe('About how long the missing ones take.'),
        reason: z.string().optional(),
      })
      .optional()
      .describe('How far the vectors are; absent where search goes by words alone.'),
    reindex: z
      .object({
        model: z.string(),
        state: z
          .enum(['embedding', 'ready', 'waiting'])
          .describe(
            '`ready`: a start with this model as EMBEDDING_MODEL swaps the vectors; `waiting`: tried again, see `reason`.',
          ),
        done: z.int(),
        total: z.int(),
        reason: z.string().optional(),
      })
      .optional()
      .describe('How far the vectors of EMBEDDING_MODEL_NEXT are.'),
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
  id: z.int().describe('Greater than that of every event before it.'),
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
    details: z.record(z.string(), z.unknown()).describe('What else the line holds.'),
  })
  .meta({ id: 'LogEvent' })

const RequestEvent = z
  .object({
    ...common,
    type: z.literal('request'),
    operation: z.string().describe('As in this contract; `unknown` where no route fits.'),
    ...{ method: z.string(), path: z.string() },
    status: z.int().describe('499 where the caller hung up before the answer was complete.'),
    milliseconds: MILLISECONDS,
    address: z.string().optional().describe('The caller’s.'),
    key: z.string().optional().describe('Its name and id, unless it was the SERVER_API_KEY.'),
    requestId: z.string().optional(),
  })
  .meta({ id: 'RequestEvent' })

const RunEvent = z
  .object({
    ...common,
    type: z.literal('run'),
    outcome: z
      .string()
      .describe('The finish reason, an error code, or `abandoned` where the caller left.'),
    milliseconds: MILLISECONDS,
    firstDelta: z.number().optional().describe('Milliseconds to the first text.'),
    promptTokens: z.int().optional().describe('As the model reports them.'),
    completionTokens: z.int().optional(),
    tools: z.record(z.string(), z.int()).describe('How often each tool was called.'),
  })
  .meta({ id: 'RunEvent', description: 'A run of the agent has ended.' })

const SampleEvent = z
  .object({
    ...common,
    type: z.literal('sample'),
    seconds: z.number().describe('What it covers.'),
    processors: z.number().describe('How many of them were busy.'),
    memory: z.int().describe('Resident, in bytes.'),
    requests: z.int(),
    failedRequests: z.int().describe('Those answered with a status from 500 on.'),
    requestMilliseconds: z.number().describe('The mean of a request.'),
    searches: z.int(),
    searchMilliseconds: z.number().describe('The mean of a search.'),
    runs: z.int().describe('Runs that ended.'),
    openRuns: z.int().describe('Runs under way at its end.'),
    documents: z.int().describe('Documents that became ready, or failed.'),
  })
  .meta({ id: 'SampleEvent', description: 'What the server did in some seconds.' })

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
    .describe('The `id` of the last event that you have.'),
  follow: Flag.default(true).describe('False ends the stream after what is kept.'),
})

export type ActivityEvent = z.output<typeof ActivityEvent>
export type Sample = Omit<z.output<typeof SampleEvent>, keyof typeof common | 'type'>
