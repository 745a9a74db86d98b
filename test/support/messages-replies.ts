import type {
  RawContentBlockDelta,
  RawContentBlockStartEvent,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages'
import type { PartsOf } from './parts-of.ts'
import type { Reply, Step } from './scripted-upstream.ts'
import { jsonReply } from './upstream-replies.ts'

/**
 * Answers in Anthropic's protocol, for `startScriptedUpstream`. What a whole answer is made of has the fields that the
 * types of Anthropic's library know.
 */

interface MessageOptions {
  stopReason?: string | null
  usage?: object
}

type Send = Step & { send: string }
type Event<Type> = PartsOf<Extract<RawMessageStreamEvent, { type: Type }>>
type Begin = PartsOf<RawContentBlockStartEvent['content_block']>
type Delta = PartsOf<RawContentBlockDelta>

/** One event by its name, as the protocol has it. */
export function messagesEvent(type: string, fields: object = {}): Send {
  return { send: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` }
}

export const messageStart = (usage: object = { input_tokens: 11, output_tokens: 1 }): Send =>
  messagesEvent('message_start', {
    message: {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  } satisfies Event<'message_start'>)

/** A block with its deltas, in an answer's order. */
export const block = (index: number, begin: object, ...deltas: object[]): Send[] => [
  messagesEvent('content_block_start', { index, content_block: begin }),
  ...deltas.map((delta) => messagesEvent('content_block_delta', { index, delta })),
  messagesEvent('content_block_stop', { index }),
]

export const textBlock = (index: number, text: string): Send[] =>
  block(
    index,
    { type: 'text', text: '' } satisfies Begin,
    ...text
      .split(/(?<=\s)(?=\S)/u)
      .map((word) => ({ type: 'text_delta', text: word }) satisfies Delta),
  )

export const thinkingBlock = (index: number, thinking: string, signature: string): Send[] =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' } satisfies Begin,
    ...(thinking.match(/[\s\S]{1,12}/gu) ?? []).map(
      (part) => ({ type: 'thinking_delta', thinking: part }) satisfies Delta,
    ),
    { type: 'signature_delta', signature } satisfies Delta,
  )

export const toolBlock = (index: number, id: string, name: string, input: object): Send[] =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} } satisfies Begin,
    { type: 'input_json_delta', partial_json: '' } satisfies Delta,
    ...(JSON.stringify(input).match(/[\s\S]{1,8}/gu) ?? []).map(
      (part) => ({ type: 'input_json_delta', partial_json: part }) satisfies Delta,
    ),
  )

export const messageEnd = (
  stopReason: string | null = 'end_turn',
  usage: object = { output_tokens: 7 },
): Send[] => [
  messagesEvent('message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage,
  }),
  messagesEvent('message_stop'),
]

/** A whole stream of these blocks. */
export function messagesReply(
  blocks: readonly Step[],
  { stopReason = 'end_turn', usage = {} }: MessageOptions = {},
): Reply {
  const counts = { input_tokens: 11, output_tokens: 1, ...usage }
  return {
    steps: [
      messageStart(counts),
      messagesEvent('ping'),
      ...blocks,
      ...messageEnd(stopReason, { output_tokens: 7 }),
    ],
  }
}

export const answerReply = (text: string, options?: MessageOptions): Reply =>
  messagesReply(textBlock(0, text), options)

/** An error in Anthropic's form. */
export const refusalReply = (
  status: number,
  message: string,
  type = 'invalid_request_error',
  headers: Record<string, string> = {},
): Reply =>
  jsonReply({ type: 'error', error: { type, message }, request_id: 'req_1' }, status, headers)
