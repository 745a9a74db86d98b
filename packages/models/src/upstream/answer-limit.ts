import type { JsonObject } from '@agent-server/lib/text/json.ts'
import type { Abilities } from './abilities.ts'
import type { FailureFacts } from './failures.ts'
import type { Fallback } from './protocol.ts'

/** The least room for an answer, beside the reasoning or after a long prompt. */
export const MIN_ANSWER = 1_024
/** A smaller number in a refusal is none of tokens. */
const MIN_LIMIT = 256
/** The fields of the protocols. */
const FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
/** Anthropic: "195000 + 32000 > 200000"; vLLM: "has 500 input tokens", "(500 in the messages, 32000 in the completion)". */
const PROMPT = /(\d+) \+ \d+ > \d+|(\d+) (?:input tokens|in the (?:messages|prompt))/

/** vLLM, where it has not counted the tokens: "your prompt contains 14233 characters". */
const CHARACTERS = /prompt contains (\d+) characters/
/** Few, so that the prompt is rather taken for larger than it is. */
const CHARACTERS_PER_TOKEN = 2
/** A limit that is named as such may be any number: "must be <= 192". */
const BOUND = /(?:<=|less than or equal to|at most) `?(\d+)/i

/** A server that allows fewer tokens in an answer is asked for as many as its refusal allows. */
export const FEWER_TOKENS: Fallback = {
  concerns: (body) => FIELDS.some((field) => field in body),
  refusal:
    /max(?:imum)?[_ ](?:output[_ ]|completion[_ ]|new[_ ])?tokens|model limit of|requested output tokens/i,
  instead: limitIn,
  report: 'an answer of so many tokens: fewer are asked for',
}

/** What a refusal teaches of the tokens that an answer may have: those of the model, or of what the prompt leaves. */
function limitIn({ rawMessage = '', window }: FailureFacts, body: JsonObject) {
  const sent = Number(FIELDS.map((field) => body[field]).find((value) => value !== undefined))
  const [, sum, promptCount] = PROMPT.exec(rawMessage) ?? []
  const [, characterCount] = CHARACTERS.exec(rawMessage) ?? []
  const promptTokens = Number(
    sum ?? promptCount ?? Math.ceil(Number(characterCount) / CHARACTERS_PER_TOKEN),
  )
  if (window && promptTokens) {
    const left = window - promptTokens
    const characters = sizeOf(body)
    return left >= MIN_ANSWER && left < sent
      ? { room: { window, promptTokens, characters } }
      : undefined
  }
  const counts = [...rawMessage.matchAll(/\d[\d,]*/g)].map(([count]) =>
    Number(count.replaceAll(',', '')),
  )
  const [, bound] = BOUND.exec(rawMessage) ?? []
  const least = Math.min(Number(bound ?? MIN_LIMIT), MIN_LIMIT)
  const limits = counts.filter((count) => count >= least && count < sent)
  return limits.length > 0 ? { maxTokens: Math.max(...limits) } : undefined
}

/** The tokens of an answer to ask for after this prompt, as far as refusals have taught. */
export function answerLimit(
  tokens: number,
  prompt: JsonObject,
  { maxTokens = tokens, room }: Abilities,
): number {
  const most = Math.min(tokens, maxTokens)
  if (!room) return most
  const share = sizeOf(prompt) / room.characters
  return Math.min(most, Math.max(MIN_ANSWER, room.window - Math.ceil(room.promptTokens * share)))
}

/** The characters of what a prompt is made of, in any protocol. */
function sizeOf({ messages, system, instructions, input, tools, tool_choice }: JsonObject): number {
  return JSON.stringify({ messages, system, instructions, input, tools, tool_choice }).length
}
