import type { ModelToolCall, ReasoningPart } from '@agent-server/models'
import type { ErrorDetail } from '@agent-server/schemas/error.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import {
  addressOf,
  citedBy,
  finishOf,
  RunCollector,
  textOf,
  toAgentExtra,
  toOpaque,
} from '@agent-server/wire'
import { toMessageToolCall } from '../completions/writer.ts'
import type { FileCitation, OutputItem, ResponseEvent, ResponseObject } from './response-schema.ts'

interface Options {
  /** Whether searches are reported: some clients take an item that they did not ask for as a failure. */
  withSearches: boolean
  /** Whether they are reported with their results. */
  withResults: boolean
  /** Where documents can be opened, if that is known. */
  origin?: string | undefined
}

/** Converts a run into the protocol's events, in its order, and updates `response`, which they describe. */
export function createResponseWriter(response: ResponseObject, options: Options) {
  const sequence = createSequence(response)
  const run = new RunCollector()
  const message = createMessage(sequence, run)
  const thinking = createThinking(sequence)

  const finish = (end: RunEnd): ResponseEvent[] => {
    const { calls, reasoning } = run
    const reason = INCOMPLETE[finishOf(end)]
    const status = reason ? 'incomplete' : 'completed'
    const opening = calls.length === 0 ? message.write('') : []
    const items = [
      ...thinking.end('completed'),
      ...message.end(status, toFileCitations(end, options.origin)),
      ...(reasoning.length > 0 ? reasoningEvents(sequence, reasoning) : []),
      ...calls.flatMap((call) => callEvents(sequence, call)),
    ]
    Object.assign(response, {
      status,
      completed_at: reason ? null : Math.floor(Date.now() / 1_000),
      incomplete_details: reason ? { reason } : null,
      usage: toUsage(end.usage),
      agent: toAgentExtra(end),
    })
    return [...opening, ...items, sequence.sayResponse(`response.${status}`)]
  }

  return {
    response,
    begin: () => [
      sequence.sayResponse('response.created'),
      sequence.sayResponse('response.in_progress'),
    ],
    /** Converts an event of the run; after `run-end` the response is complete. */
    take(event: AgentEvent): ResponseEvent[] {
      run.take([event])
      if (event.type === 'retrieved') {
        return options.withSearches ? searchEvents(sequence, event, options) : []
      }
      if (event.type === 'run-end') return finish(event)
      if (event.type === 'reasoning-delta') return thinking.write(event.text)
      const text = textOf(event)
      return text === '' ? [] : [...thinking.end('completed'), ...message.write(text)]
    },
    /** The last events of a run that failed. */
    fail(detail: ErrorDetail): ResponseEvent[] {
      const isRate = detail.code === 'upstream_rate_limited'
      const code = isRate ? 'rate_limit_exceeded' : 'server_error'
      const ending = [...thinking.end('incomplete'), ...message.end('incomplete', [])]
      const error = { code, message: detail.message }
      Object.assign(response, { status: 'failed', error, agent: { error: detail } })
      return [...ending, sequence.sayResponse('response.failed')]
    },
  }
}

/** Reasons for which the protocol considers a response incomplete. */
const INCOMPLETE: Partial<Record<ReturnType<typeof finishOf>, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

type Sequence = ReturnType<typeof createSequence>
type Type = ResponseEvent['type']

/** Numbers the events of a response and assigns indexes and ids to its items. */
function createSequence(response: ResponseObject) {
  let next = 0
  const say = (type: Type, fields: Partial<ResponseEvent> = {}): ResponseEvent => ({
    type,
    sequence_number: next++,
    ...fields,
  })

  return {
    say,
    /** Makes an event with a copy of the current response. */
    sayResponse: (type: Type) =>
      say(type, { response: { ...response, output: [...response.output] } }),
    /** The id of the next item, from which that of its response can be derived. */
    newId: (word: string) => `${response.id.replace('resp', word)}_${response.output.length}`,
    add: (item: OutputItem) => response.output.push(item) - 1,
    replace: (place: number, item: OutputItem) => void response.output.splice(place, 1, item),
  }
}

interface Place {
  output_index: number
  item_id: string
}

/** The events of an item that is complete at once; those of `between` come between its begin and its end. */
function itemEvents(
  { say, add }: Sequence,
  first: OutputItem,
  item: OutputItem,
  between: (place: Place) => ResponseEvent[],
): ResponseEvent[] {
  const output_index = add(item)
  return [
    say('response.output_item.added', { output_index, item: first }),
    ...between({ output_index, item_id: item.id }),
    say('response.output_item.done', { output_index, item }),
  ]
}

const SEARCH_STATES = ['in_progress', 'searching', 'completed'] as const

function searchEvents(
  sequence: Sequence,
  { query, hits }: Extract<AgentEvent, { type: 'retrieved' }>,
  { withResults }: Options,
): ResponseEvent[] {
  const item = { type: 'file_search_call' as const, id: sequence.newId('fs'), queries: [query] }
  const results = withResults ? hits.map(toResult) : null
  const first = { ...item, status: 'in_progress' as const, results: null }
  return itemEvents(sequence, first, { ...item, status: 'completed', results }, (place) =>
    SEARCH_STATES.map((state) => sequence.say(`response.file_search_call.${state}`, place)),
  )
}

function toResult({ documentId, title, score, text, metadata: attributes = {} }: Hit) {
  const filename = title || documentId
  return { file_id: documentId, filename, score, text, attributes, vector_store_id: null }
}

/** Reasoning that goes back to the model with the results of the calls that follow. */
function reasoningEvents(sequence: Sequence, parts: readonly ReasoningPart[]): ResponseEvent[] {
  const item = {
    type: 'reasoning' as const,
    id: sequence.newId('rs'),
    status: 'completed' as const,
    summary: [],
    encrypted_content: toOpaque(parts),
  }
  return itemEvents(sequence, { ...item, status: 'in_progress' }, item, () => [])
}

function callEvents(sequence: Sequence, call: ModelToolCall): ResponseEvent[] {
  const { id: call_id, function: fn, ...extra } = toMessageToolCall(call)
  const { say, newId } = sequence
  const item = {
    ...extra,
    ...fn,
    type: 'function_call' as const,
    id: newId('fc'),
    call_id,
  }
  const first = { ...item, arguments: '', status: 'in_progress' as const }
  return itemEvents(sequence, first, { ...item, status: 'completed' }, (place) => [
    say('response.function_call_arguments.delta', { ...place, delta: fn.arguments }),
    say('response.function_call_arguments.done', { ...place, ...fn }),
  ])
}

/** Writes the model's thinking as items of their own, each as the summary of its reasoning. */
function createThinking(sequence: Sequence) {
  const { say } = sequence
  let open: { place: Place & { summary_index: number }; text: string } | undefined

  const begin = () => {
    const item_id = sequence.newId('rs')
    const item = { ...REASONING, id: item_id, status: 'in_progress' as const, summary: [] }
    open = { place: { output_index: sequence.add(item), item_id, summary_index: 0 }, text: '' }
    const { place } = open
    return [
      say('response.output_item.added', { output_index: place.output_index, item }),
      say('response.reasoning_summary_part.added', { ...place, part: toSummary('') }),
    ]
  }

  return {
    write(delta: string): ResponseEvent[] {
      const begun = open ? [] : begin()
      if (!open) return begun
      open.text += delta
      return [...begun, say('response.reasoning_summary_text.delta', { ...open.place, delta })]
    },
    /** Ends the item; returns no events if there is none. */
    end(status: Message['status']): ResponseEvent[] {
      if (!open) return []
      const { place, text } = open
      open = undefined
      const part = toSummary(text)
      const item = { ...REASONING, id: place.item_id, status, summary: [part] }
      sequence.replace(place.output_index, item)
      return [
        say('response.reasoning_summary_text.done', { ...place, text }),
        say('response.reasoning_summary_part.done', { ...place, part }),
        say('response.output_item.done', { output_index: place.output_index, item }),
      ]
    },
  }
}

const REASONING = { type: 'reasoning' as const }
const toSummary = (text: string) => ({ type: 'summary_text' as const, text })

type Message = Extract<OutputItem, { type: 'message' }>
type Part = Message['content'][number]

/** Writes the answer: one message, during which searches may be reported. */
function createMessage(sequence: Sequence, run: RunCollector) {
  const { say } = sequence
  let place: (Place & { content_index: number }) | undefined

  const open = () => {
    const item_id = sequence.newId('msg')
    const item = toMessage(item_id, 'in_progress', [])
    place = { output_index: sequence.add(item), item_id, content_index: 0 }
    return [
      say('response.output_item.added', { output_index: place.output_index, item }),
      say('response.content_part.added', { ...place, part: toPart('', []) }),
    ]
  }

  return {
    write(delta: string): ResponseEvent[] {
      const opening = place ? [] : open()
      if (delta === '') return opening
      return [...opening, say('response.output_text.delta', { ...place, delta, logprobs: [] })]
    },
    /** Ends the message; returns no events if nothing was written. */
    end(status: Message['status'], annotations: FileCitation[]): ResponseEvent[] {
      if (!place) return []
      const { output_index, item_id } = place
      const text = run.textWithApproval
      const part = toPart(text, annotations)
      const item = toMessage(item_id, status, [part])
      sequence.replace(output_index, item)
      const citations = annotations.map((annotation, annotation_index) =>
        say('response.output_text.annotation.added', { ...place, annotation, annotation_index }),
      )
      return [
        ...citations,
        say('response.output_text.done', { ...place, text, logprobs: [] }),
        say('response.content_part.done', { ...place, part }),
        say('response.output_item.done', { output_index, item }),
      ]
    },
  }
}

function toMessage(id: string, status: Message['status'], content: Part[]): Message {
  return { type: 'message', id, status, role: 'assistant', content }
}

function toPart(text: string, annotations: Part['annotations']): Part {
  return { type: 'output_text', text, annotations, logprobs: [] }
}

/** The citations of an answer in the format of the Responses protocol. */
function toFileCitations(run: RunEnd, origin: string | undefined): FileCitation[] {
  return citedBy(run).map(({ hit, number, at, ...support }) => {
    const { documentId: file_id, title, start, end } = hit
    const url = addressOf(hit, origin)
    const place = { index: at, number, start, end, ...(url !== undefined && { url }) }
    return { type: 'file_citation', file_id, filename: title || file_id, ...place, ...support }
  })
}

function toUsage(usage: RunEnd['usage']): ResponseObject['usage'] {
  if (!usage) return null
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens,
  }
}
