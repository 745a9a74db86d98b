import { citationsIn } from '../agent/citations/citation-check.ts'
import type { AgentEvent, RunEnd } from '../agent/run/agent-event.ts'
import { parseCall } from '../agent/tools/registry.ts'
import type { ModelToolCall } from '../models/chat-model.ts'
import type { Hit } from '../schemas/query.ts'

/** The answer text of an event. Calls that wait for approval are included, for clients without that feature. */
export function textOf(event: AgentEvent): string {
  if (event.type === 'text-delta') return event.text
  if (event.type !== 'approval-required') return ''
  const lines = event.calls.map(({ tool, input }) => `- ${tool} ${JSON.stringify(input)}`)
  return `\n\nWaiting for approval:\n${lines.join('\n')}\n`
}

/** The arguments of a call of the client's own tool as an object, for protocols that do not send them as text. */
export function inputOf(call: ModelToolCall): object {
  const { input } = parseCall(call)
  return typeof input === 'object' && input !== null ? input : {}
}

/** The extension field `agent` of OpenAI's protocols. */
export function toAgentExtra(end: RunEnd) {
  return { ...toRunExtras(end), ...(end.approval && { approval: end.approval }) }
}

/** The fields that all protocols send at the end of a run; omits empty ones. */
export function toRunExtras(end: RunEnd) {
  const { hits, reason: finishReason, degraded, artifacts, limitsReached, unknownCitations } = end
  return {
    hits,
    finishReason,
    ...(end.searchedFor !== undefined && { searchedFor: end.searchedFor }),
    ...(limitsReached.length > 0 && { limitsReached }),
    ...(degraded && { degraded }),
    ...(unknownCitations.length > 0 && { unknownCitations }),
    ...(artifacts.length > 0 && { artifacts }),
  }
}

/** For each citation mark in an answer, the hit that it cites and the position of the mark. */
export function citedBy(text: string, hits: readonly Hit[], isJsonAsked: boolean) {
  return citationsIn(text, hits.length, isJsonAsked).flatMap(({ number, index }) => {
    const hit = hits[number - 1]
    return hit ? [{ hit, number, index }] : []
  })
}
