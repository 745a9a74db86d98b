import type { JsonObject } from '@agent-server/lib/text/json.ts'
import type { ModelMessage, ModelToolCall } from '../chat-model.ts'
import type { Abilities } from './abilities.ts'
import type { Fallback } from './protocol.ts'

/** What the model is told of a call that the conversation has no result of. */
const NO_RESULT = 'There is no result.'
/** Said for the user where the conversation ends with an answer that the model does not continue. */
const GO_ON: ModelMessage = { role: 'user', content: 'Continue.' }

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/**
 * The conversation as every provider takes it, whatever a client left out: each call has its result right after it,
 * results without a call are told by the user, and an answer that says nothing is left out.
 */
export function wholeTurns(
  messages: readonly ModelMessage[],
  { continues }: Pick<Abilities, 'continues'>,
): ModelMessage[] {
  const turns = withResults(messages.filter((message) => !isEmpty(message)))
  const isContinued = continues || turns.at(-1)?.role !== 'assistant'
  return isContinued ? turns : [...turns, GO_ON]
}

function withResults(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = []
  /** The calls whose results are awaited. */
  let open = new Set<string>()
  /** What came before the last of the results. */
  let held: ModelMessage[] = []
  const begin = (calls: readonly ModelToolCall[] = []): void => {
    turns.push(...Array.from(open, noResult), ...held)
    open = new Set(calls.map(({ callId }) => callId))
    held = []
  }
  for (const message of messages) {
    const isAwaited = message.role === 'tool' && open.delete(message.callId)
    if (message.role === 'assistant') begin()
    if (message.role === 'tool') (isAwaited ? turns : held).push(toldAs(message, isAwaited))
    else (message.role === 'assistant' ? turns : held).push(message)
    if (message.role === 'assistant') begin(message.toolCalls)
  }
  begin()
  return turns
}

const isEmpty = (message: ModelMessage) =>
  message.role === 'assistant' && message.content.trim() === '' && !message.toolCalls?.length

const noResult = (callId: string): ToolMessage => ({ role: 'tool', callId, content: NO_RESULT })

const toldAs = (message: ToolMessage, isAwaited: boolean): ModelMessage =>
  isAwaited
    ? { ...message, content: message.content || NO_RESULT }
    : { role: 'user', content: `Result of a tool: ${message.content}` }

/** Newer models begin every answer themselves (Claude, Mistral). */
export const endsWithAnswer = (last: (body: JsonObject) => unknown): Fallback => ({
  concerns: (body) => last(body) === 'assistant',
  refusal: /\bprefill\b|last (?:role|message)\b[^.]*\b(?:user|assistant)\b|must end with a user/i,
  instead: { continues: false },
  report: 'to continue an answer: the user asks it to go on',
})
