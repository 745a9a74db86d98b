import type { ModelEvent, ModelMessage } from './chat-model.ts'

/** The last of a conversation, which one span quotes. */
const MAX_MESSAGES = 50

/** Messages as https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json has them. */
export function spanMessages(messages: readonly ModelMessage[]) {
  const last = messages.slice(-MAX_MESSAGES)
  return last.map((message) => ({ role: message.role, parts: partsOf(message) }))
}

/** An answer, in the place of what may be several. */
export function spanAnswer(answer: ModelMessage, finishReason = 'error') {
  return spanMessages([answer]).map((message) => ({ ...message, finish_reason: finishReason }))
}

/** The answer that a model's events make; one that has no end has failed. */
export function spanAnswerOf(events: readonly ModelEvent[]) {
  const texts = events.map((event) => (event.type === 'text-delta' ? event.text : ''))
  const toolCalls = events.flatMap((event) => (event.type === 'tool-call' ? [event.call] : []))
  const end = events.find((event) => event.type === 'finish')
  return spanAnswer({ role: 'assistant', content: texts.join(''), toolCalls }, end?.reason)
}

function partsOf(message: ModelMessage): object[] {
  const { content } = message
  if (message.role === 'tool') {
    return [{ type: 'tool_call_response', id: message.callId, response: content }]
  }
  const text = content === '' ? [] : [{ type: 'text', content }]
  const calls = (message.role === 'assistant' && message.toolCalls) || []
  return [
    ...text,
    ...calls.map(({ callId: id, name, arguments: callInput }) => ({
      type: 'tool_call',
      id,
      name,
      arguments: callInput,
    })),
  ]
}
