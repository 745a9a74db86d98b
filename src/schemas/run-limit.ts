import { z } from 'zod'

/** What bounds a run, by the names that `limits` in the agent configuration has for them. */
export const LIMIT_NAMES = ['rounds', 'toolCalls', 'seconds', 'tokens'] as const

/** Present in an answer only where a limit kept the run from something. */
export const LIMITS_REACHED = z.array(z.enum(LIMIT_NAMES)).optional().meta({
  description:
    'The limits of `agent.json` that kept the run from something: a tool call, or the rest of the answer. Absent otherwise.',
})

export type LimitName = (typeof LIMIT_NAMES)[number]
