import { newId } from '@agent-server/lib/new-id.ts'
import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type {
  FinishReason,
  ModelEvent,
  ModelToolCall,
  ModelUsage,
  ReasoningPart,
} from '../chat-model.ts'
import { failureInStream, UpstreamFailure, unreadable } from '../upstream/failures.ts'
import type { AnswerReader } from '../upstream/protocol.ts'
import { createTextReader, type ReaderOptions } from '../upstream/text-reader.ts'

/** Maximum items of an answer: calls, messages and reasoning. */
const MAX_ITEMS = 512
const MAX_ARGUMENT_CHARACTERS = 1_000_000
/** Events with which an answer ends, and the whole answer of a server that does not stream. */
const ENDS = [
  'response.completed',
  'response.done',
  'response.incomplete',
  'response.failed',
  'response',
]

type DeltaForm = 'answer' | 'text' | 'summary' | 'arguments'
const DELTAS: Record<string, DeltaForm> = {
  'response.output_text.delta': 'answer',
  'response.refusal.delta': 'answer',
  'response.reasoning_text.delta': 'text',
  'response.reasoning.delta': 'text',
  'response.reasoning_summary.delta': 'summary',
  'response.reasoning_summary_text.delta': 'summary',
  'response.function_call_arguments.delta': 'arguments',
}

/** Reads the events of one answer. */
export function createAnswerReader(options: ReaderOptions): AnswerReader {
  const written = createTextReader(options)
  const items = createItems()
  let response: JsonObject | undefined
  let isSummary = false
  let hasStreamed = false

  const readText = (text: string): Iterable<ModelEvent> => {
    hasStreamed ||= text !== ''
    return written.read({ text })
  }
  const readThought = (form: 'text' | 'summary', thought: string): Iterable<ModelEvent> => {
    isSummary = form === 'summary'
    return written.read({ thought })
  }
  const end = (whole: JsonObject): Iterable<ModelEvent> => {
    const error = objectOf(whole.error)
    if (whole.status === 'failed' || nonEmptyString(error.message)) throw failureInStream(error)
    response = whole
    items.addAll(whole.output)
    return hasStreamed ? [] : readText(textIn(whole.output) || items.text())
  }

  const readDelta = (form: DeltaForm, fields: JsonObject): Iterable<ModelEvent> => {
    const delta = nonEmptyString(fields.delta) ?? ''
    if (form === 'answer') return readText(delta)
    if (form !== 'arguments') return readThought(form, delta)
    items.addArguments(fields.output_index ?? fields.item_id, delta)
    return []
  }

  const readOther = (type: string, fields: JsonObject): Iterable<ModelEvent> => {
    if (type === 'error') throw failureInStream(fields.error ?? fields)
    items.note(type, fields)
    // A summary has parts, which nothing else separates.
    const isNextPart =
      type === 'response.reasoning_summary_part.added' && fields.summary_index !== 0
    return isNextPart ? readThought('summary', '\n\n') : []
  }

  return {
    read(event: unknown): Iterable<ModelEvent> {
      const fields = objectOf(event)
      const type = String(fields.type ?? fields.object)
      const form = DELTAS[type]
      if (form) return readDelta(form, fields)
      if (ENDS.includes(type)) return end(objectOf(fields.response ?? fields))
      return readOther(type, fields)
    },
    get finished() {
      return response !== undefined || written.isStopped
    },
    get closed() {
      return response !== undefined || written.isStopped
    },
    text: written,
    get isSummary() {
      return isSummary
    },
    ending: () =>
      written.ending({
        calls: items.calls(),
        reasonOf: (hasCalls) => reasonOf(response ?? {}, hasCalls),
        usage: readUsage(response ?? {}),
        reasoning: items.reasoning,
      }),
  }
}

/** The items of an answer by their place; what comes later of one takes the place of what came before. */
function createItems() {
  const items = new Map<unknown, JsonObject>()
  const argumentsSent = new Map<unknown, string>()
  const messages = new Map<unknown, JsonObject>()

  const put = (index: unknown, item: JsonObject): void => {
    const { type } = item
    if (type === 'message' && messages.size < MAX_ITEMS) messages.set(index, item)
    if (type !== 'function_call' && type !== 'reasoning') return
    if (items.size === MAX_ITEMS && !items.has(index))
      throw unreadable('more items than are accepted')
    // The end of an item may leave out what its deltas have told.
    const written = nonEmptyString(item.arguments) ?? argumentsSent.get(index)
    items.set(index, { ...items.get(index), ...item, ...(written && { arguments: written }) })
  }
  return {
    /** Stores an item that an event contains whole; some servers send the arguments without deltas. */
    note(type: string, { output_index, item_id, item, arguments: whole }: JsonObject): void {
      if (isObject(item)) put(output_index ?? item.id, item)
      const call = items.get(output_index ?? item_id)
      const isWhole = type === 'response.function_call_arguments.done' && typeof whole === 'string'
      if (call && isWhole) put(output_index ?? item_id, { ...call, arguments: whole })
    },
    /** The text of the messages, which some servers tell with their end alone. */
    text: () => textIn([...messages.values()]),
    addArguments(index: unknown, more: string): void {
      const all = (argumentsSent.get(index) ?? '') + more
      if (all.length > MAX_ARGUMENT_CHARACTERS) {
        throw unreadable('more tool arguments than are accepted')
      }
      argumentsSent.set(index, all)
      const item = items.get(index)
      if (item) items.set(index, { ...item, arguments: all })
    },
    /** Adds what no event has told, by the list at the end of an answer. */
    addAll(output: unknown): void {
      if (!Array.isArray(output)) return
      for (const [index, item] of output.map(objectOf).entries()) {
        const known = items.entries().find(([, { id }]) => id !== undefined && id === item.id)
        put(known?.[0] ?? index, item)
      }
    },
    calls: (): ModelToolCall[] =>
      [...items.values()].filter(({ type }) => type === 'function_call').map(toCall),
    reasoning: (): ReasoningPart[] =>
      [...items.values()].filter(({ type }) => type === 'reasoning').flatMap(toReasoning),
  }
}

function toCall(item: JsonObject): ModelToolCall {
  const { arguments: written } = item
  return {
    callId: nonEmptyString(item.call_id) ?? nonEmptyString(item.id) ?? newId('call'),
    name: nonEmptyString(item.name) ?? '',
    arguments: isObject(written) ? JSON.stringify(written) : (nonEmptyString(written) ?? ''),
  }
}

function toReasoning(item: JsonObject): ReasoningPart[] {
  const data = nonEmptyString(item.encrypted_content)
  if (data === undefined) return []
  const parts = Array.isArray(item.summary) ? item.summary.map(objectOf) : []
  const summary = parts.flatMap(({ text }) => nonEmptyString(text) ?? [])
  return [{ form: 'item', data, id: nonEmptyString(item.id) ?? newId('rs'), summary }]
}

function textIn(output: unknown): string {
  const items = Array.isArray(output) ? output.map(objectOf) : []
  const parts = items.flatMap(({ type, content }) =>
    type === 'message' && Array.isArray(content) ? content.map(objectOf) : [],
  )
  return parts
    .map(({ text, refusal }) => nonEmptyString(text) ?? nonEmptyString(refusal) ?? '')
    .join('')
}

function reasonOf({ status, incomplete_details }: JsonObject, hasCalls: boolean): FinishReason {
  const { reason } = objectOf(incomplete_details)
  if (reason === 'content_filter') return 'content_filter'
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (status === 'cancelled') {
    throw new UpstreamFailure({
      kind: 'status',
      status: 502,
      rawMessage: 'the response was cancelled',
    })
  }
  return hasCalls ? 'tool_calls' : 'stop'
}

function readUsage({ usage }: JsonObject): ModelUsage | undefined {
  const counts = objectOf(usage)
  const { input_tokens: promptTokens, output_tokens: completionTokens } = counts
  if (typeof promptTokens !== 'number') return undefined
  const { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens } = objectOf(
    counts.input_tokens_details,
  )
  const { reasoning_tokens: reasoningTokens } = objectOf(counts.output_tokens_details)
  return {
    promptTokens,
    completionTokens: typeof completionTokens === 'number' ? completionTokens : 0,
    ...(typeof cachedTokens === 'number' && { cachedTokens }),
    ...(typeof cacheWriteTokens === 'number' && { cacheWriteTokens }),
    ...(typeof reasoningTokens === 'number' && { reasoningTokens }),
  }
}
