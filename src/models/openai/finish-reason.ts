import type { FinishReason } from '../chat-model.ts'
import { UpstreamFailure } from './upstream-failure.ts'

const FINISH_REASONS: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  prohibited_content: 'content_filter',
  sensitive: 'content_filter',
  refusal: 'content_filter',
}

/** Reasons that say that the answer is not whole. */
const FAILURES = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource'])

/**
 * What a server's `finish_reason` means. An unknown one (`eos`, `end_turn`, `complete`…) is a stop.
 * Some servers say `stop` after tool calls, and a few `tool_calls` after none. Throws UpstreamFailure
 * for a reason that reports a failure.
 */
export function toFinishReason(reason: string, hasToolCalls: boolean): FinishReason {
  const name = reason.toLowerCase()
  if (FAILURES.has(name)) {
    throw new UpstreamFailure({ kind: 'status', status: 502, words: `finish_reason ${name}` })
  }
  const known = FINISH_REASONS[name] ?? 'stop'
  if (known === 'stop' && hasToolCalls) return 'tool_calls'
  return known === 'tool_calls' && !hasToolCalls ? 'stop' : known
}
