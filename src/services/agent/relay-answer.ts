import type { ChatModel, FinishReason, ModelToolCall, Usage } from '../../models/chat-model.ts'
import type { AgentEvent } from './agent-event.ts'

/** What one model call amounted to. */
export interface Answer {
  text: string
  calls: ModelToolCall[]
  reason: Exclude<FinishReason, 'tool_calls'>
  usage: Usage | undefined
}

/** Passes the text on as it comes and gathers what the loop has to know. */
export async function* relayAnswer(
  events: ReturnType<ChatModel['stream']>,
): AsyncGenerator<AgentEvent, Answer> {
  const answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  for await (const event of events) {
    switch (event.type) {
      case 'text-delta':
        answer.text += event.text
        yield event
        break
      case 'tool-call':
        answer.calls.push(event.call)
        break
      case 'finish':
        answer.usage = event.usage
        if (event.reason !== 'tool_calls') answer.reason = event.reason
        break
      default:
        event satisfies never
    }
  }
  return answer
}
