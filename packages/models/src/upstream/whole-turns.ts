import type { JsonObject } from '@agent-server/lib/text/json.ts'
import type { ModelMessage } from '../chat-model.ts'
import type { Abilities } from './abilities.ts'
import type { Fallback } from './protocol.ts'

/** The result that the model gets for a call without one in the conversation. */
const NO_RESULT = 'There is no result.'
/** Said for the user where the conversation ends with an answer that the model does not continue. */
const GO_ON: ModelMessage = { role: 'user', content: 'Continue.' }

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/**
 * The conversation as every provider takes it, whatever a client left out: each call has its result right after it,
 * results without a call are told by the user, and an answer that says nothing is left out. Where no tools are offered,
 * some want no calls either.
 */
export function wholeTurns(
  messages: readonly ModelMessage[],
  offersTools: boolean,
  { continues, bareCalls }: Pick<Abilities, 'continues' | 'bareCalls'>,
): ModelMessage[] {
  const supported = offersTools || bareCalls ? messages : messages.map(withoutCalls)
  const turns = roundsOf(supported.filter((message) => !isEmpty(message))).flatMap(withResults)
  const isContinued = continues || turns.at(-1)?.role !== 'assistant'
  return isContinued ? turns : [...turns, GO_ON]
}

/** What stands before the first answer, then each answer with what follows it. */
function roundsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const rounds: ModelMessage[][] = [[]]
  for (const message of messages) {
    if (message.role === 'assistant') rounds.push([])
    rounds.at(-1)?.push(message)
  }
  return rounds
}

function withResults(round: readonly ModelMessage[]): ModelMessage[] {
  const [answer] = round
  const calls = answer?.role === 'assistant' ? (answer.toolCalls ?? []) : []
  const awaited = new Set(calls.map(({ callId }) => callId))
  const results = new Map<string, ToolMessage>()
  const others: ModelMessage[] = []
  for (const message of round) {
    const isResult =
      message.role === 'tool' && awaited.has(message.callId) && !results.has(message.callId)
    if (isResult) results.set(message.callId, withContent(message))
    else others.push(message.role === 'tool' ? asUserMessage(message) : message)
  }
  const [first, ...rest] = others
  const answers = calls.map(({ callId }) => results.get(callId) ?? noResult(callId))
  return first ? [first, ...answers, ...rest] : []
}

const withContent = (result: ToolMessage): ToolMessage =>
  result.content === '' ? { ...result, content: NO_RESULT } : result

const asUserMessage = ({ content }: ToolMessage): ModelMessage => ({
  role: 'user',
  content: `Result of a tool: ${content}`,
})

const withoutCalls = (message: ModelMessage): ModelMessage =>
  message.role === 'assistant' ? { role: 'assistant', content: message.content } : message

const isEmpty = (message: ModelMessage) =>
  message.role === 'assistant' && message.content.trim() === '' && !message.toolCalls?.length

const noResult = (callId: string): ToolMessage => ({ role: 'tool', callId, content: NO_RESULT })

/** Newer models begin every answer themselves (Claude, Mistral). */
export const endsWithAnswer = (last: (body: JsonObject) => unknown): Fallback => ({
  concerns: (body) => last(body) === 'assistant',
  refusal: /\bprefill\b|last (?:role|message)\b[^.]*\b(?:user|assistant)\b|must end with a user/i,
  instead: { continues: false },
  report: 'to continue an answer: the user asks it to go on',
})

/** Bedrock, LiteLLM: "toolConfig must be defined when using toolUse", "without `tools=` param specified". */
export const bareCalls = (hasResults: (body: JsonObject) => boolean): Fallback => ({
  concerns: (body) => !('tools' in body) && hasResults(body),
  refusal:
    /toolConfig field|\btools=|without (?:any )?tools\b|tools?\b[^.]{0,30}must be (?:defined|provided|specified)/i,
  instead: { bareCalls: false },
  report: 'earlier calls where no tools are offered: they are told as text',
})
