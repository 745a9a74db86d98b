import { randomUUID } from 'node:crypto'
import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { FinishReason, ModelEvent, ModelUsage, ReasoningPart } from '../chat-model.ts'
import { failureInStream, UpstreamFailure, unreadable } from '../upstream/failures.ts'
import type { AnswerReader, ReaderOptions } from '../upstream/protocol.ts'
import { createThinkingSplitter, createWrittenCalls } from './answer-text.ts'
import { createToolCallAccumulator } from './tool-calls.ts'

/** Limits beyond which the reasoning sent back with the tool results is cut. */
const MAX_REASONING_CHARACTERS = 1_000_000
const MAX_REASONING_DETAILS = 64

/** Reads the chunks of one answer, in any dialect of chat completions. */
export function createAnswerReader({ offered, isThinkingOpen }: ReaderOptions): AnswerReader {
  const toolCalls = createToolCallAccumulator()
  const reasoning = createReasoningKeeper()
  const thinking = createThinkingSplitter({ isOpen: isThinkingOpen })
  const written = createWrittenCalls(offered)
  let finishReason: string | undefined
  let usage: ModelUsage | undefined
  let speed: number | undefined
  let hasText = false
  let hasThought = false

  const toEvents = (thought: string, text: string): ModelEvent[] => {
    hasText ||= text !== ''
    hasThought ||= thought !== ''
    return [
      ...(thought === '' ? [] : [{ type: 'reasoning-delta' as const, text: thought }]),
      ...(text === '' ? [] : [{ type: 'text-delta' as const, text }]),
    ]
  }
  const count = (chunk: JsonObject, choice: JsonObject): void => {
    usage = readUsage(chunk) ?? readUsage(choice) ?? usage
    const { predicted_per_second: told } = objectOf(chunk.timings)
    if (typeof told === 'number') speed = told
  }
  const whyEmpty = (reason: FinishReason): string => {
    if (reason === 'content_filter') return 'The model’s provider withheld the answer.'
    if (reason === 'length') {
      return hasThought
        ? 'The model reached its output limit while it was still thinking.'
        : 'The model had no room left for an answer.'
    }
    if (written.hasDropped) return 'The model called a tool that does not exist, and said nothing.'
    return hasThought ? 'The model thought, but gave no answer.' : 'The model gave no answer.'
  }

  return {
    /** Reads the next chunk. Throws UpstreamFailure if it is invalid or reports an error. */
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
      const said = thinking.write(textOf(delta))
      const thought = nonEmptyString(delta.reasoning_content) ?? nonEmptyString(delta.reasoning)
      return [
        ...readProgress(whole),
        ...toEvents((thought ?? '') + said.reasoning, written.write(said.text)),
      ]
    },
    /** True once the finish reason was received; only the usage may still follow. */
    get finished() {
      return finishReason !== undefined
    },
    // The library ends the stream itself, at its mark.
    closed: false,
    get reasoning() {
      return hasThought ? 'text' : 'none'
    },
    /** Tokens written per second, if the server says so. */
    get speed() {
      return speed
    },
    /** Whether the answer began as thinking without a mark; undefined if it does not tell. */
    get wasThinkingOpen() {
      return thinking.wasOpen
    },
    /** What was held back because it might have been the beginning of something else than text. */
    rest(): ModelEvent[] {
      const said = thinking.end()
      return toEvents(said.reasoning, written.write(said.text) + written.end())
    },
    /** The final events: the tool calls, then `finish`. Throws UpstreamFailure if the reason reports a failure. */
    ending(): ModelEvent[] {
      const more = written.calls.map((call) => ({ callId: `call_${randomUUID()}`, ...call }))
      const calls = [...toolCalls.calls(), ...more]
      const reason = toFinishReason(finishReason ?? '', calls.length > 0)
      const isEmpty = !hasText && calls.length === 0
      return [
        ...calls.map((call): ModelEvent => ({ type: 'tool-call', call })),
        {
          type: 'finish',
          reason,
          usage,
          reasoning: calls.length > 0 ? reasoning.parts() : undefined,
          ...(isEmpty && { emptyBecause: whyEmpty(reason) }),
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

const FINISH_REASONS: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  prohibited_content: 'content_filter',
  sensitive: 'content_filter',
  refusal: 'content_filter',
}

/** Finish reasons that mean that the answer is incomplete. */
const FAILURES = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource'])

/**
 * Normalises a server's `finish_reason`. An unknown one (`eos`, `end_turn`, `complete`…) means `stop`. Some servers
 * say `stop` after tool calls, and a few `tool_calls` without any; both are corrected. Throws UpstreamFailure for a
 * reason that reports a failure.
 */
function toFinishReason(reason: string, hasToolCalls: boolean): FinishReason {
  const name = reason.toLowerCase()
  if (FAILURES.has(name)) {
    throw new UpstreamFailure({ kind: 'status', status: 502, words: `finish_reason ${name}` })
  }
  const known = FINISH_REASONS[name] ?? 'stop'
  if (known === 'stop' && hasToolCalls) return 'tool_calls'
  return known === 'tool_calls' && !hasToolCalls ? 'stop' : known
}
