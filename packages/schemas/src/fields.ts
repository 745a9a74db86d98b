import { optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'

/** The limits of a run, by their names under `limits` in the agent configuration. */
export const LIMIT_NAMES = ['rounds', 'toolCalls', 'seconds', 'tokens'] as const

/** Present in an answer only if a limit stopped something in the run. */
export const LIMITS_REACHED = z
  .array(z.enum(LIMIT_NAMES))
  .optional()
  .describe(
    'The limits of `agent.json` that prevented a tool call or cut off the answer. Absent if none did.',
  )

export type LimitName = (typeof LIMIT_NAMES)[number]

export const REWRITE = optionalOr(z.boolean(), true).describe(
  'Whether a follow-up that cannot be understood alone is rewritten before the search. The chat model rewrites it as a standalone question in a separate call, which counts towards the usage; without a generating model, it is searched for together with the previous questions.',
)

/** `conversationId` of a request to the agent. */
export const SessionId = z
  .string()
  .max(128)
  .regex(
    /^[A-Za-z0-9._:-]+$/,
    'must be 1 to 128 letters, digits, dots, colons, hyphens or underscores',
  )
  .describe(
    'Identifies the conversation, so that state kept by tools, such as a sandbox, is available to the next request. Without it, no state is kept.',
  )

/** The state of a part of the agent. */
export const State = z
  .enum(['on', 'off', 'unavailable'])
  .describe(
    '`off`: disabled by configuration. `unavailable`: enabled but not working, see `reason`.',
  )

/** The response body of a route that sends a file, of any media type. */
const Bytes = { schema: z.unknown().meta({ type: 'string', format: 'binary' }) }
export const FILE_CONTENT = { 'application/octet-stream': Bytes, '*/*': Bytes }
