import type { Meter } from '@agent-server/models'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'

/** Who pays for calls of models, and whether they still can. */
export interface Payment {
  /** Throws AppError `rate_limited` if a limit of the day is reached, and what `verify` throws. */
  check(caller: Caller): Promise<void>
  /** Counts calls for a caller, and for the agent that makes them, if one does. */
  meter(caller: Caller, agent?: string): Meter
}
