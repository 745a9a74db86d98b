import type { ModelToolCall } from '../../models/chat-model.ts'
import type { RunFinishReason, Usage } from '../../schemas/chat.ts'
import type { Completion, CompletionChunk } from '../../schemas/completion.ts'
import type { AgentEvent } from '../agent/agent-event.ts'
import { toRunExtras } from './run-extras.ts'

/** What all chunks of one completion share. */
export interface CompletionHead {
  id: string
  created: number
  model: string
}

type Choice = CompletionChunk['choices'][number]
type FinishReason = Completion['choices'][number]['finish_reason']

/** The protocol knows four reasons; the run's own one rides in `agent`. */
export const FINISH_REASON: Record<RunFinishReason, FinishReason> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  round_limit: 'stop',
  call_limit: 'stop',
  time_limit: 'length',
  token_limit: 'length',
}

/** The first chunk: clients take the role from it. */
export function toFirstChunk(head: CompletionHead): CompletionChunk {
  return toChunk(head, { delta: { role: 'assistant', content: '' } })
}

/** The chunks that one agent event becomes; the server's own tools stay inside and become none. */
export function toCompletionChunks(
  event: AgentEvent,
  head: CompletionHead,
  includeUsage: boolean,
): CompletionChunk[] {
  switch (event.type) {
    case 'text-delta':
      return [toChunk(head, { delta: { content: event.text } })]
    case 'tool-call':
    case 'tool-result':
      return []
    case 'client-tool-calls': {
      const calls = event.calls.map((call, index) => ({ index, ...toMessageToolCall(call) }))
      return [toChunk(head, { delta: { tool_calls: calls, ...toReasoning(event.calls) } })]
    }
    case 'run-end': {
      const { reason, usage } = event
      const end = toChunk(head, { delta: {}, finish_reason: FINISH_REASON[reason] })
      const last = { ...end, agent: toRunExtras(event) }
      // A chunk without choices stops clients that did not ask for the usage.
      if (!includeUsage || !usage) return [last]
      return [last, { ...toChunk(head), usage: toCompletionUsage(usage) }]
    }
    default:
      return event satisfies never
  }
}

export function toMessageToolCall({ callId, name, arguments: text, extra }: ModelToolCall) {
  const { extra_content } = extra ?? {}
  return {
    id: callId,
    type: 'function' as const,
    function: { name, arguments: text },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** The reasoning that the provider of the model wants back with the results of the calls. */
export function toReasoning(calls: readonly ModelToolCall[]) {
  const extra = calls
    .map((call) => call.extra)
    .find((given) => given?.reasoning_content || given?.reasoning_details)
  const { reasoning_content, reasoning_details } = extra ?? {}
  return {
    ...(reasoning_content && { reasoning_content }),
    ...(reasoning_details && { reasoning_details }),
  }
}

export function toCompletionUsage({ promptTokens, completionTokens, totalTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
  }
}

function toChunk(head: CompletionHead, choice?: Partial<Choice>): CompletionChunk {
  const choices = choice
    ? [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }]
    : []
  return { ...head, object: 'chat.completion.chunk', choices }
}
