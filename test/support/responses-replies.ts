import type {
  Response,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import type { PartsOf } from './parts-of.ts'
import type { Reply, Step } from './scripted-upstream.ts'

interface ResponseParts {
  texts?: readonly string[]
  reasoning?: readonly { id: string; data: string; summary: readonly string[] }[]
  calls?: readonly { id?: string; name: string; args: string }[]
  /** The reason for which the response is incomplete. */
  incomplete?: 'content_filter' | 'max_output_tokens'
  /** The time between two parts of the text. */
  gapMs?: number
}

/** Any event as the server sends it, for shapes that no library knows. */
export function responseEvent(type: string, fields: object = {}): Step & { send: string } {
  return { send: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` }
}

/** An event with fields that the types of OpenAI's library know. */
const knownEvent = <Type extends ResponseStreamEvent['type']>(
  type: Type,
  fields: Omit<PartsOf<Extract<ResponseStreamEvent, { type: Type }>>, 'type'>,
) => responseEvent(type, fields)

/** A streamed answer in OpenAI's Responses protocol, with the events that a client reads. */
export function responseReply({
  texts = [],
  reasoning = [],
  calls = [],
  incomplete,
  gapMs = 0,
}: ResponseParts): Reply {
  const items: Item[] = [
    ...reasoning.map(({ id, data, summary }) => ({
      type: 'reasoning' as const,
      id,
      encrypted_content: data,
      summary: summary.map((text) => ({ type: 'summary_text' as const, text })),
    })),
    ...(texts.length > 0
      ? [
          {
            type: 'message' as const,
            id: 'msg_1',
            content: [{ type: 'output_text' as const, text: texts.join('') }],
          },
        ]
      : []),
    ...calls.map(({ id = 'call_1', name, args }, index) => ({
      type: 'function_call' as const,
      id: `fc_${index}`,
      call_id: id,
      name,
      arguments: args,
    })),
  ]
  const status = incomplete ? 'incomplete' : 'completed'
  const response: PartsOf<Response> = {
    id: 'resp_1',
    object: 'response',
    status,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    output: items,
    usage: {
      input_tokens: 58,
      output_tokens: 9,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 4 },
    },
  }
  return {
    steps: [
      knownEvent('response.created', { response: { ...response, output: [] } }),
      ...items.flatMap((item, output_index) => itemSteps(item, output_index, texts, gapMs)),
      knownEvent(`response.${status}`, { response }),
    ],
  }
}

type Item = Extract<
  PartsOf<ResponseOutputItem>,
  { type?: 'reasoning' | 'message' | 'function_call' | undefined }
>

function itemSteps(item: Item, output_index: number, texts: readonly string[], gapMs: number) {
  const place = { output_index, item_id: item.id ?? '' }
  const added = { ...item, ...(item.type === 'function_call' && { arguments: '' }) }
  return [
    knownEvent('response.output_item.added', { output_index, item: added }),
    ...innerSteps(item, place, texts, gapMs),
    knownEvent('response.output_item.done', { output_index, item }),
  ]
}

function innerSteps(
  item: Item,
  place: { output_index: number; item_id: string },
  texts: readonly string[],
  gapMs: number,
): Step[] {
  if (item.type === 'message') {
    return texts.flatMap((delta) => [
      knownEvent('response.output_text.delta', { ...place, content_index: 0, delta }),
      ...(gapMs > 0 ? [{ pauseMs: gapMs }] : []),
    ])
  }
  if (item.type === 'reasoning' && item.summary) {
    return item.summary.flatMap(({ text: delta = '' }, summary_index) => [
      knownEvent('response.reasoning_summary_part.added', { ...place, summary_index }),
      knownEvent('response.reasoning_summary_text.delta', { ...place, summary_index, delta }),
    ])
  }
  return item.type === 'function_call'
    ? [
        knownEvent('response.function_call_arguments.delta', {
          ...place,
          delta: item.arguments ?? '',
        }),
      ]
    : []
}

/** An answer that fails after its first word. */
export function responsesErrorReply(way: 'failed' | 'event' | 'cut'): Reply {
  const error = { code: 'server_error', message: 'The server had an error.' }
  const begun = [
    responseEvent('response.output_text.delta', { output_index: 0, delta: 'At' }),
    { pauseMs: 20 },
  ]
  if (way === 'cut') return { steps: [...begun, { cut: true }] }
  const end =
    way === 'failed'
      ? responseEvent('response.failed', { response: { status: 'failed', error } })
      : responseEvent('error', error)
  return { steps: [...begun, end] }
}
