import {
  isJsonObject,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOf,
} from '@agent-server/lib/text/json.ts'
import type { ModelEvent, ModelUsage, ReasoningPart } from '../chat-model.ts'
import { failureInStream, messageIn, unreadable } from '../upstream/failures.ts'
import { toFinishReason } from '../upstream/finish-reason.ts'
import type { AnswerReader } from '../upstream/protocol.ts'
import { createTextReader, type ReaderOptions } from '../upstream/text-reader.ts'
import { createToolCallAccumulator } from './tool-calls.ts'

/** Limits beyond which the reasoning sent back with the tool results is cut. */
const MAX_REASONING_CHARACTERS = 1_000_000
const MAX_REASONING_DETAILS = 64

/** Reads the chunks of one answer, in any dialect of chat completions. */
export function createAnswerReader({ offered, isThinkingOpen }: ReaderOptions): AnswerReader {
  const toolCalls = createToolCallAccumulator()
  const reasoning = createReasoningKeeper()
  const text = createTextReader({ offered, isThinkingOpen })
  let finishReason: string | undefined
  let stopSequence: string | undefined
  let usage: ModelUsage | undefined
  let speed: number | undefined
  /** What deltas have told: some servers end with the whole message, of which only the rest is new. */
  const told = new Set<string>()

  const count = (chunk: JsonObject, choice: JsonObject): void => {
    usage = readUsage(chunk) ?? readUsage(choice) ?? usage
    const { predicted_per_second: speedNow } = objectOf(chunk.timings)
    if (typeof speedNow === 'number') speed = speedNow
  }

  const isAgain = (kind: string, isThere: boolean, isWhole: boolean): boolean => {
    if (isThere && !isWhole) told.add(kind)
    return isWhole && told.has(kind)
  }

  const take = (delta: JsonObject, isWhole: boolean) => {
    const calls = toolEntries(delta)
    const thought = thoughtOf(delta)
    const said = textOf(delta)
    const isThought = Boolean(thought || delta.reasoning_details)
    const isThoughtAgain = isAgain('thought', isThought, isWhole)
    if (!isAgain('calls', calls.length > 0, isWhole))
      for (const entry of calls) toolCalls.add(entry)
    if (!isThoughtAgain) reasoning.keep(delta)
    return text.read({
      thought: isThoughtAgain ? '' : thought,
      text: isAgain('text', said !== '', isWhole) ? '' : said,
    })
  }

  return {
    read(chunk: unknown) {
      const whole = objectOf(chunk)
      if (isError(whole)) throw failureInStream(chunk)
      const [first = {}] = Array.isArray(whole.choices) ? whole.choices : []
      if (!isObject(first)) throw unreadable('a broken choice')
      count(whole, first)
      finishReason = reasonIn(whole, first) ?? finishReason
      // vLLM
      stopSequence = nonEmptyString(first.stop_reason) ?? stopSequence
      const { delta, message, text: written } = first
      const isWhole = !isObject(delta) && isObject(message)
      // Without either, what some servers write as they do in text completions.
      const next = [delta, message].find(isObject) ?? { content: written }
      return inOrder(readProgress(whole), take(next, isWhole))
    },
    get finished() {
      return finishReason !== undefined
    },
    get isComplete() {
      const calls = toolCalls.calls()
      return calls.length > 0 ? calls.every((call) => isJsonObject(call.arguments)) : text.hasText
    },
    // Its mark of the end closes the stream.
    closed: false,
    get speed() {
      return speed
    },
    text,
    ending: () =>
      text.ending({
        calls: toolCalls.calls(),
        reasonOf: (hasCalls) => toFinishReason(finishReason ?? '', hasCalls),
        stopSequence,
        usage,
        reasoning: reasoning.parts,
      }),
  }
}

/** Why an answer has ended; Gemini has a name of its own for the field, and Ollama none in some whole answers. */
function reasonIn({ object }: JsonObject, choice: JsonObject): string | undefined {
  const isWhole = object === 'chat.completion' && isObject(choice.message)
  const reason = nonEmptyString(choice.finish_reason ?? choice.finishReason)
  return reason ?? (isWhole ? 'stop' : undefined)
}

/** An error in another field than `error`: instead of choices, it has words. */
const isError = (chunk: JsonObject) =>
  chunk.object === 'error' ||
  chunk.type === 'error' ||
  (!Array.isArray(chunk.choices) && (messageIn(chunk) || objectsIn(chunk.errors).length > 0))

/** How much of the prompt llama.cpp has read. */
function readProgress({ prompt_progress }: JsonObject): ModelEvent[] {
  const { processed, total } = objectOf(prompt_progress)
  if (typeof processed !== 'number' || typeof total !== 'number') return []
  return [{ type: 'progress', phase: 'prefill', processed, total }]
}

/** Without a generator of its own, as it is asked for each delta. */
const inOrder = (first: readonly ModelEvent[], then: Iterable<ModelEvent>) =>
  first.length === 0 ? then : [...first, ...then]

function toolEntries({ tool_calls, function_call }: JsonObject): readonly unknown[] {
  const entries = objectsIn(tool_calls)
  if (entries.length > 0) return entries
  // The legacy format, which some servers still use.
  return isObject(function_call) ? [{ index: 0, function: function_call }] : []
}

/** The text of a delta. A list of parts may also contain the model's thinking. */
function textOf({ content, refusal }: JsonObject): string {
  const text = typeof content === 'string' ? content : joined(objectsIn(content).map(textIn))
  return typeof refusal === 'string' ? text + refusal : text
}

const textIn = ({ type, text }: JsonObject) => (type === 'text' ? text : '')

/** The thinking of a delta, which stands in one of six places; some servers fill two of them with the same. */
function thoughtOf({
  reasoning_content,
  reasoning,
  reasoning_text,
  thinking,
  reasoning_details,
  content,
}: JsonObject) {
  return (
    nonEmptyString(reasoning_content) ??
    nonEmptyString(reasoning) ??
    nonEmptyString(reasoning_text) ??
    nonEmptyString(thinking) ??
    nonEmptyString(joined(objectsIn(reasoning_details).map(detailIn))) ??
    joined(objectsIn(content).flatMap(thoughtIn))
  )
}

const detailIn = ({ text, summary }: JsonObject) => text ?? summary

const thoughtIn = ({ thinking: part }: JsonObject) =>
  typeof part === 'string' ? part : objectsIn(part).map(({ text }) => text)

const joined = (texts: readonly unknown[]) =>
  texts.length === 0 ? '' : texts.filter((text) => typeof text === 'string').join('')

/** The objects of a list; or the one that stands in place of it. */
const objectsIn = (list: unknown): readonly JsonObject[] =>
  typeof list === 'object' && list !== null ? [list].flat().filter(isObject) : NONE

const NONE: readonly JsonObject[] = []

function readUsage({ usage, x_groq, timings }: JsonObject): ModelUsage | undefined {
  const counts = objectOf(usage ?? objectOf(x_groq).usage)
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = counts
  if (typeof promptTokens !== 'number') return undefined
  const ofPrompt = objectOf(counts.prompt_tokens_details)
  const cachedTokens = [
    ofPrompt.cached_tokens,
    // DeepSeek, llama.cpp
    counts.prompt_cache_hit_tokens,
    objectOf(timings).cache_n,
  ].find((count) => typeof count === 'number')
  const { cache_write_tokens: cacheWriteTokens } = ofPrompt
  const { reasoning_tokens: reasoningTokens } = objectOf(counts.completion_tokens_details)
  return {
    promptTokens,
    completionTokens: typeof completionTokens === 'number' ? completionTokens : 0,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(typeof cacheWriteTokens === 'number' && { cacheWriteTokens }),
    ...(typeof reasoningTokens === 'number' && { reasoningTokens }),
  }
}

/**
 * Keeps the reasoning that some providers require to be sent back with the tool results: DeepSeek and similar ones
 * `reasoning_content`, OpenRouter the encrypted `reasoning_details`.
 */
function createReasoningKeeper() {
  let content = ''
  const details: JsonObject[] = []
  return {
    keep({ reasoning_content, reasoning_details }: JsonObject) {
      const room = MAX_REASONING_CHARACTERS - content.length
      content += (nonEmptyString(reasoning_content) ?? '').slice(0, room)
      const more = Array.isArray(reasoning_details) ? reasoning_details : []
      for (const detail of more) {
        const isKept = isObject(detail) && detail.type === 'reasoning.encrypted'
        if (isKept && details.length < MAX_REASONING_DETAILS) details.push(detail)
      }
    },
    parts: (): ReasoningPart[] => [
      ...(content === '' ? [] : [{ form: 'content' as const, text: content }]),
      ...details.map((detail) => ({ form: 'detail' as const, detail })),
    ],
  }
}
