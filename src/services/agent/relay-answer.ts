import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelToolCall,
  Usage,
} from '../../models/chat-model.ts'
import type { AgentEvent } from './agent-event.ts'
import type { CitationCheck } from './check-citations.ts'

/** What one model call amounted to. */
export interface Answer {
  text: string
  calls: ModelToolCall[]
  /** `time_limit` where the answer was cut. */
  reason: Exclude<FinishReason, 'tool_calls'> | 'time_limit'
  usage: Usage | undefined
}

interface Relay {
  citations: CitationCheck
  /** Aborted when the answer is cut; what came until then stands. */
  answerTime: AbortSignal
  signal: AbortSignal
}

/** Passes the text on as it comes, its citations checked, and gathers what the loop has to know. */
export async function* relayAnswer(
  events: ReturnType<ChatModel['stream']>,
  { citations, answerTime, signal }: Relay,
): AsyncGenerator<AgentEvent, Answer> {
  const answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  try {
    for await (const event of events) {
      note(event, answer)
      if (event.type !== 'text-delta') continue
      const text = citations.write(event.text)
      if (text !== '') yield { type: 'text-delta', text }
    }
  } catch (error) {
    if (signal.aborted) throw error
    yield* rest(citations)
    if (!answerTime.aborted) throw error
    answer.reason = 'time_limit'
  }
  yield* rest(citations)
  return answer
}

function* rest(citations: CitationCheck): Generator<AgentEvent> {
  const text = citations.end()
  if (text !== '') yield { type: 'text-delta', text }
}

function note(event: ModelEvent, answer: Answer): void {
  switch (event.type) {
    case 'text-delta':
      answer.text += event.text
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
