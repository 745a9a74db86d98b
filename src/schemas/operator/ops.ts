import { z } from 'zod'
import { RetrievalMode } from '../agent.ts'
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
