import { randomUUID } from 'node:crypto'
import {
  isJsonObject,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOf,
} from '@agent-server/lib/text/json.ts'
import type { FinishReason, ModelEvent, ModelToolCall, ModelUsage } from '../chat-model.ts'
import { createThinkingSplitter, createWrittenCalls } from './answer-text.ts'
import { failureInStream, UpstreamFailure, unreadable } from './failures.ts'

/** Limits beyond which the reasoning sent back with the tool results is cut. */
const MAX_REASONING_CHARACTERS = 1_000_000
const MAX_REASONING_DETAILS = 64

interface ReaderOptions {
  /** The names of the tools that were offered; empty if the text is not to be searched for calls. */
  offered: ReadonlySet<string>
  /** Whether the answer is known to begin as thinking without a mark. */
  isThinkingOpen?: boolean | undefined
}

/** Reads the chunks of one answer, in any dialect of chat completions. */
export function createAnswerReader({ offered, isThinkingOpen }: ReaderOptions) {
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
      if (whole.object === 'error') throw failureInStream(chunk)
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
      const calls = reasoning.attach([...toolCalls.calls(), ...more])
      const reason = toFinishReason(finishReason ?? '', calls.length > 0)
      const isEmpty = !hasText && calls.length === 0
      return [
        ...calls.map((call): ModelEvent => ({ type: 'tool-call', call })),
        { type: 'finish', reason, usage, ...(isEmpty && { emptyBecause: whyEmpty(reason) }) },
      ]
    },
  }
}

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
  const details: unknown[] = []
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
    attach(calls: ModelToolCall[]): ModelToolCall[] {
      const [first, ...others] = calls
      if (!first || (content === '' && details.length === 0)) return calls
      const message = {
        ...(content !== '' && { reasoning_content: content }),
        ...(details.length > 0 && { reasoning_details: details }),
      }
      return [{ ...first, providerData: { ...first.providerData, message } }, ...others]
    },
  }
}

const MAX_CALLS = 128
const MAX_ARGUMENT_CHARACTERS = 1_000_000

interface PendingCall {
  id: string | undefined
  name: string | undefined
  arguments: string
  extra: unknown
}

interface Fragment extends PendingCall {
  index: number | undefined
}

/**
 * Joins the fragments of streamed tool calls. Servers mark fragments differently: some omit `index`, some repeat it for
 * every call, some send a new id with each fragment, some send the arguments as an object. So a fragment belongs to the
 * call with its id, else to the newest call with its index, else to the newest call; and it begins a new call if it
 * names a function while that call seems complete.
 */
export function createToolCallAccumulator() {
  const calls: PendingCall[] = []
  const newestByIndex = new Map<number, PendingCall>()

  function find({ id, index }: Fragment): PendingCall | undefined {
    const byIndex = index === undefined ? undefined : newestByIndex.get(index)
    if (byIndex && (id === undefined || byIndex.id === id)) return byIndex
    const byId = id === undefined ? undefined : calls.findLast((call) => call.id === id)
    return byId ?? (index === undefined ? calls.at(-1) : byIndex)
  }

  function begin(fragment: Fragment): PendingCall {
    if (calls.length === MAX_CALLS) throw unreadable('more tool calls than are accepted')
    const call = { id: undefined, name: undefined, arguments: '', extra: undefined }
    calls.push(call)
    if (fragment.index !== undefined) newestByIndex.set(fragment.index, call)
    return call
  }

  return {
    /** Adds one entry of `delta.tool_calls`. Throws UpstreamFailure if a limit is exceeded. */
    add(entry: unknown) {
      const fragment = readFragment(entry)
      if (!fragment) return
      const found = find(fragment)
      const call = found && !beginsAnother(fragment, found) ? found : begin(fragment)
      call.id ??= fragment.id
      call.name ??= fragment.name
      call.arguments += fragment.arguments
      call.extra ??= fragment.extra
      if (call.arguments.length > MAX_ARGUMENT_CHARACTERS)
        throw unreadable('more tool arguments than are accepted')
    },
    /** The calls so far, in the order of their beginning. */
    calls: () =>
      calls.filter(({ name, arguments: written }) => name || written).map(toModelToolCall),
  }
}

function readFragment(entry: unknown): Fragment | undefined {
  if (!isObject(entry)) return undefined
  const details = isObject(entry.function) ? entry.function : {}
  const fragment = {
    index: typeof entry.index === 'number' ? entry.index : undefined,
    id: nonEmptyString(entry.id),
    name: nonEmptyString(details.name),
    arguments: argumentsText(details.arguments),
    extra: entry.extra_content ?? undefined,
  }
  const { index, ...content } = fragment
  const isEmpty = Object.values(content).every((value) => value === undefined || value === '')
  return isEmpty ? undefined : fragment
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}

function beginsAnother(fragment: Fragment, call: PendingCall): boolean {
  if (fragment.name === undefined || call.name === undefined) return false
  const sameName = fragment.name === call.name
  const complete = isJsonObject(call.arguments)
  if (fragment.id === undefined || call.id === undefined) return !sameName || complete
  const halfway = call.arguments !== '' && !complete
  return fragment.id !== call.id && !(sameName && halfway)
}

function toModelToolCall({ id, name, arguments: written, extra }: PendingCall): ModelToolCall {
  return {
    callId: id ?? `call_${randomUUID()}`,
    name: name ?? '',
    arguments: written,
    ...(extra !== undefined && { providerData: { call: { extra_content: extra } } }),
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
