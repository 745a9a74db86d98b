import type { ModelToolCall } from '../../models/chat-model.ts'
import type { Completion } from '../../schemas/completion.ts'
import type { AgentEvent, RunEnd } from '../agent/agent-event.ts'
import { toRunExtras } from './run-extras.ts'
import {
  type CompletionHead,
  FINISH_REASON,
  toCompletionUsage,
  toMessageToolCall,
  toReasoning,
} from './to-completion-chunk.ts'

/** A whole run as one completion. */
export async function collectCompletion(
  events: AsyncIterable<AgentEvent>,
  head: CompletionHead,
): Promise<Completion> {
  let content = ''
  let calls: readonly ModelToolCall[] = []
  for await (const event of events) {
    if (event.type === 'text-delta') content += event.text
    if (event.type === 'client-tool-calls') calls = event.calls
    if (event.type === 'run-end') return toCompletion(head, content, calls, event)
  }
  throw new Error('An agent run ended without run-end')
}

function toCompletion(
  head: CompletionHead,
  content: string,
  calls: readonly ModelToolCall[],
  end: RunEnd,
): Completion {
  const { reason, usage } = end
  const toolCalls = calls.length > 0 && {
    tool_calls: calls.map(toMessageToolCall),
    ...toReasoning(calls),
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && calls.length > 0 ? null : content,
          refusal: null,
          ...toolCalls,
        },
        logprobs: null,
        finish_reason: FINISH_REASON[reason],
      },
    ],
    ...(usage && { usage: toCompletionUsage(usage) }),
    agent: toRunExtras(end),
  }
}
