import type { Reply } from '../../../../test/support/scripted-upstream.ts'
import { chunk, DONE, streamReply } from '../../../../test/support/upstream-replies.ts'
import type { ChatApi, ModelRequest } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'

/**
 * The shape of something that a server of models said, written anew from a public report or taken from the server
 * itself: each must end in an answer, or in an error whose sentence says what to do.
 */
export interface Recorded {
  /** What the server does, as a fact: “vLLM refuses stream_options”. */
  name: string
  /** Where it was reported, as repository and number, or the server and version that it was taken from. */
  source: string
  /** The protocol; the model is asked in this one alone, unless `auto` is set. */
  api: ChatApi
  /** Whether the protocol may be changed, as with `CHAT_API=auto`. */
  auto?: boolean
  /** What is asked, besides a plain question. */
  request?: Partial<ModelRequest>
  /** What the server answers, in order; the last one answers all further requests. */
  replies: readonly Reply[]
  expected: Answered | Failed
}

export interface Answered {
  /** The whole text. */
  text?: string
  reasoning?: string
  /** The name and the arguments of each call. */
  calls?: readonly (readonly [name: string, args: string])[]
  reason?: string
  usage?: object
  /** How many requests it took; 1 if absent. */
  requests?: number
  /** What the last request had to contain, and what not, as fields by path. */
  sent?: Record<string, unknown>
}

interface Failed {
  code: string
  message: RegExp
  /** In how many seconds to try again: a number, or a matcher. */
  retryAfter?: unknown
  requests?: number
}

/** The shapes of servers that are asked in chat completions. */
export const inCompletions = (shapes: readonly Omit<Recorded, 'api'>[]): readonly Recorded[] =>
  shapes.map((shape) => ({ api: 'chat-completions', ...shape }))

/** A plain answer. */
export const ANSWER: Reply = streamReply(
  chunk({ role: 'assistant', content: 'At ' }),
  chunk({ content: 'nine' }),
  chunk({}, 'stop'),
  DONE,
)
/** What is expected where the server was asked again, and then answered. */
export const ANSWERED = { text: 'At nine', reason: 'stop', requests: 2 }

export const WITH_TOOLS: Partial<ModelRequest> = { tools: [TOOL], toolChoice: 'auto' }

/** A conversation with the result of a call that another model made. */
export const AFTER_CALL: Partial<ModelRequest> = {
  tools: [TOOL],
  messages: [
    { role: 'user', content: 'When does the library open?' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ callId: 'call_7f3a', name: TOOL.name, arguments: '{"query":"hours"}' }],
    },
    { role: 'tool', callId: 'call_7f3a', content: 'It opens at nine.' },
  ],
}

/** A question with instructions. */
export const WITH_RULES: Partial<ModelRequest> = {
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'When?' },
  ],
}

/** A question about an image. */
export const WITH_IMAGE: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'What is this?', images: [{ url: 'data:image/png;base64,iVBOR' }] },
  ],
}

/** A tool whose schema has what only a whole JSON Schema has. */
export const DETAILED_TOOL = {
  name: 'reserve_book',
  description: 'Reserves a book.',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      Copy: {
        type: 'object',
        properties: { shelf: { type: 'string', pattern: '^[A-Z]\\d+$' } },
        additionalProperties: false,
      },
    },
    properties: {
      copy: { $ref: '#/$defs/Copy' },
      days: { type: 'integer', exclusiveMinimum: 0, description: 'For how long' },
      kind: { const: 'loan' },
      note: { type: ['string', 'null'], maxLength: 2_000 },
      tags: { type: 'array' },
    },
    required: ['copy'],
    additionalProperties: false,
  },
}

/** A report of a server that refuses what it is asked, and what the next request lacks or has instead. */
export const refused = (
  [name, source]: readonly [string, string],
  refusal: Reply,
  request: Partial<ModelRequest> = {},
  sent: Record<string, unknown> = {},
): Recorded => ({
  name,
  source,
  api: 'chat-completions',
  request,
  replies: [refusal, ANSWER],
  expected: { ...ANSWERED, sent },
})

/** A report of an answer, or of a failure, that the first request gets. */
export const answered = (
  [name, source]: readonly [string, string],
  reply: Reply,
  expected: Recorded['expected'],
  request: Partial<ModelRequest> = {},
): Recorded => ({ name, source, api: 'chat-completions', request, replies: [reply], expected })
