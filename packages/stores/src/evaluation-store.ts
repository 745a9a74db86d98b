import type { StoredEvaluation } from '@agent-server/evaluation'

export const MAX_QUESTIONS = 1_000
/** Limit of all questions together, in characters, so that they can be read at once. */
export const MAX_CHARACTERS = 4_000_000

export const MAX_EVALUATIONS = 50
/** After which a run without a sign of life counts as interrupted. */
export const SILENT_MS = 60_000

export const RUN_STATES = [
  'running',
  'done',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly StoredEvaluation['state'][]
