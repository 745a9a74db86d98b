import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { ModelEvent, ModelUsage, ReasoningPart } from '../chat-model.ts'
import { failureInStream, unreadable } from '../upstream/failures.ts'
import { toFinishReason } from '../upstream/finish-reason.ts'
import type { AnswerReader, ReaderOptions } from '../upstream/protocol.ts'
import { createTextReader } from '../upstream/text-reader.ts'
import { createToolCallAccumulator } from './tool-calls.ts'

/** Limits beyond which the reasoning sent back with the tool results is cut. */
const MAX_REASONING_CHARACTERS = 1_000_000
const MAX_REASONING_DETAILS = 64

/** Reads the chunks of one answer, in any dialect of chat completions. */
export function createAnswerReader({ offered, isThinkingOpen }: ReaderOptions): AnswerReader {
  const toolCalls = createToolCallAccumulator()
  const reasoning = createReasoningKeeper()
  const written = createTextReader({ offered, isThinkingOpen })
  let finishReason: string | undefined
  let usage: ModelUsage | undefined
  let speed: number | undefined

  const count = (chunk: JsonObject, choice: JsonObject): void => {
    usage = readUsage(chunk) ?? readUsage(choice) ?? usage
    const { predicted_per_second: told } = objectOf(chunk.timings)
    if (typeof told === 'number') speed = told
  }

  return {
    read(chunk: unknown): ModelEvent[] {
      const whole = objectOf(chunk)
      if (isError(whole)) throw failureInStream(chunk)
      const [first = {}] = Array.isArray(whole.choices) ? whole.choices : []
      if (!isObject(first)) throw unreadable('a broken choice')
      count(whole, first)
      finishReason = nonEmptyString(first.finish_reason) ?? finishReason
      const delta = objectOf(first.delta ?? first.message)
      for (const entry of toolEntries(delta)) toolCalls.add(entry)
      reasoning.keep(delta)
      const thought = nonEmptyString(delta.reasoning_content) ?? nonEmptyString(delta.reasoning)
      return [
        ...readProgress(whole),
        ...written.read({ thought: thought ?? '', text: textOf(delta) }),
      ]
    },
    get finished() {
      return finishReason !== undefined
    },
    // The library ends the stream itself, at its mark.
    closed: false,
    get reasoning() {
      return written.hasThought ? 'text' : 'none'
    },
    get speed() {
      return speed
    },
    get wasThinkingOpen() {
      return written.wasThinkingOpen
    },
    rest: written.rest,
    ending(): ModelEvent[] {
      const calls = [...toolCalls.calls(), ...written.calls()]
      const reason = toFinishReason(finishReason ?? '', calls.length > 0)
      const isEmpty = !written.hasText && calls.length === 0
      return [
        ...calls.map((call): ModelEvent => ({ type: 'tool-call', call })),
        {
          type: 'finish',
          reason,
          usage,
          ...(calls.length > 0 && { reasoning: reasoning.parts() }),
          ...(isEmpty && { emptyBecause: written.whyEmpty(reason) }),
        },
      ]
    },
  }
}

/** An error without the field that the library looks for. */
const isError = ({ object, type }: JsonObject) => object === 'error' || type === 'error'

/** How much of the prompt llama.cpp has read. */
function readProgress({ prompt_progress }: JsonObject): ModelEvent[] {
  const { processed, total } = objectOf(prompt_progress)
  if (typeof processed !== 'number' || typeof total !== 'number') return []
  return [{ type: 'progress', phase: 'prefill', processed, total }]
}

function toolEntries({ tool_calls, function_call }: JsonObject): unknown[] {
  if (Array.isArray(tool_calls)) return tool_calls
  // The legacy format, which some servers still use.
  return isObject(function_call) ? [{ index: 0, function: function_call }] : []
}

/** The text of a delta. A list of parts may also contain the model's thinking, which is omitted. */
function textOf({ content, refusal }: JsonObject): string {
  const parts = Array.isArray(content)
    ? content.filter(isObject)
    : [{ type: 'text', text: content }]
  let said = ''
  for (const { type, text } of parts) if (type === 'text' && typeof text === 'string') said += text
  return typeof refusal === 'string' ? said + refusal : said
}

function readUsage({ usage, x_groq, timings }: JsonObject): ModelUsage | undefined {
  const counts = objectOf(usage ?? objectOf(x_groq).usage)
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = counts
  if (typeof promptTokens !== 'number') return undefined
  const cachedTokens = [
    objectOf(counts.prompt_tokens_details).cached_tokens,
    // DeepSeek, llama.cpp
    counts.prompt_cache_hit_tokens,
    objectOf(timings).cache_n,
  ].find((count) => typeof count === 'number')
  return {
    promptTokens,
    completionTokens: typeof completionTokens === 'number' ? completionTokens : 0,
    ...(cachedTokens !== undefined && { cachedTokens }),
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
