import type { FinishReason } from '../chat-model.ts'
import { UpstreamFailure } from './failures.ts'

const KNOWN: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
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

/** Finish reasons that mean that the answer is incomplete. */
const FAILURES = new Set([
  'error',
  'abort',
  'network_error',
  'insufficient_system_resource',
  // Gemini could not read the call that the model wrote, which it may write well the next time.
  'malformed_function_call',
])

/**
 * Normalises why an answer ended, in the words of any protocol. An unknown reason (`eos`, `end_turn`, `complete`…) means
 * `stop`. Some servers say `stop` after tool calls, and a few `tool_calls` without any; both are corrected. Throws
 * UpstreamFailure for a reason that reports a failure.
 */
export function toFinishReason(reason: string, hasToolCalls: boolean): FinishReason {
  // Gemini puts a kind before the name: "content_filter: PROHIBITED_CONTENT".
  const name = reason.toLowerCase().replace(/^.*:\s*/, '')
  if (FAILURES.has(name)) {
    throw new UpstreamFailure({ kind: 'status', status: 502, rawMessage: `finish_reason ${name}` })
  }
  const mapped = KNOWN[name] ?? 'stop'
  if (mapped === 'stop' && hasToolCalls) return 'tool_calls'
  return mapped === 'tool_calls' && !hasToolCalls ? 'stop' : mapped
}

/** Why an answer has neither text nor a call, as a sentence for the user. */
export function whyEmpty(
  reason: FinishReason,
  { hasThought, hasDropped = false }: { hasThought: boolean; hasDropped?: boolean },
): string {
  if (reason === 'content_filter') return 'The model’s provider withheld the answer.'
  if (reason === 'length') {
    return hasThought
      ? 'The model reached its output limit while it was still thinking.'
      : 'The model had no room left for an answer.'
  }
  if (hasDropped) return 'The model called a tool that does not exist, and said nothing.'
  return hasThought ? 'The model thought, but gave no answer.' : 'The model gave no answer.'
}
