import type { RunEnd } from './agent-event.ts'

/** The fields that all protocols send at the end of a run; omits empty ones. */
export function toRunExtras(end: RunEnd) {
  const { hits, reason: finishReason, degraded, artifacts, limitsReached } = end
  const { citations, citationCheck, unknownCitations } = end
  return {
    hits,
    finishReason,
    ...(end.searchedFor !== undefined && { searchedFor: end.searchedFor }),
    ...(limitsReached.length > 0 && { limitsReached }),
    ...(degraded && { degraded }),
    ...(end.abstained && { abstained: true }),
    ...(citations.length > 0 && { citations }),
    ...(citationCheck && { citationCheck }),
    ...(unknownCitations.length > 0 && { unknownCitations }),
    ...(artifacts.length > 0 && { artifacts }),
  }
}
