import type { Artifact } from '../../schemas/artifact.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import type { Hit } from '../../schemas/query.ts'
import type { LimitName } from '../../schemas/run-limit.ts'
import type { RunEnd } from '../agent/agent-event.ts'

export interface RunExtras {
  hits: Hit[]
  finishReason: RunFinishReason
  limitsReached?: LimitName[]
  degraded?: true
  unknownCitations?: number[]
  artifacts?: Artifact[]
}

/** What both dialects tell at the end of a run, in the same words; what there is nothing of is left out. */
export function toRunExtras(end: RunEnd): RunExtras {
  const { hits, reason, degraded, artifacts = [], limitsReached = [], unknownCitations = [] } = end
  return {
    hits,
    finishReason: reason,
    ...(limitsReached.length > 0 && { limitsReached: [...limitsReached] }),
    ...(degraded && { degraded }),
    ...(unknownCitations.length > 0 && { unknownCitations: [...unknownCitations] }),
    ...(artifacts.length > 0 && { artifacts: [...artifacts] }),
  }
}
