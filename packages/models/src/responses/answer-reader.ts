import { type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { FinishReason, ModelEvent, ModelUsage } from '../chat-model.ts'
import { failureInStream, UpstreamFailure } from '../upstream/failures.ts'
import type { AnswerReader } from '../upstream/protocol.ts'
import { createTextReader, type ReaderOptions } from '../upstream/text-reader.ts'
import { createItems, textIn } from './items.ts'

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
    items.addArguments(fields, delta)
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
