import { randomUUID } from 'node:crypto'
import type { Log } from '@agent-server/lib/log.ts'
import { isObject, type JsonObject, objectOf } from '@agent-server/lib/text/json.ts'
import type { UpstreamFailure } from './failures.ts'

/** What a chat completions server accepts, as far as is known. */
export interface Dialect {
  streamUsage: boolean
  tools: boolean
  /** `max_tokens` is tried first: servers that do not know it report an error, while many ignore its successor. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether the model takes instructions, and messages in any order, rather than a user and an assistant in turn. */
  roles: boolean
  /** Whether a tool choice by name is followed; some servers read it as `auto`. */
  namedChoice: boolean
  /** Whether a call is insisted on by a schema of the answer, as llama.cpp follows `required` in few templates only. */
  choiceBySchema: boolean
  /** Whether the server tells how much of the prompt it has read (llama.cpp). */
  progress: boolean
  /** Whether the model accepts images. */
  images: boolean
  /** Whether the model's reasoning may be sent back with the tool results. */
  reasoning: boolean
}

/** The name of the schema that a call is held to; no client's own schema has it. */
export const CALL_SCHEMA = `call_${randomUUID()}`

/** What to change if a server rejects a feature. */
interface Fallback {
  /** Whether the body uses the feature. */
  concerns: (body: JsonObject) => boolean
  refusal: RegExp
  instead: Partial<Dialect>
  /** For the log, after “refuses”. */
  report: string
}

const TOOLS_REFUSED = new RegExp(
  [
    // Ollama: "… does not support tools"; OpenRouter: "No endpoints found that support tool use".
    'not support(?:ed)?(?: for)? (?:tool|function)',
    'that support tool use',
    // vLLM: '"auto" tool choice requires --enable-auto-tool-choice'.
    'tool choice requires',
    // llama.cpp: "tools param requires --jinja flag", "Unsupported param: tools", "Cannot use tools with stream".
    'tools param requires',
    'unsupported param: tools',
    'use tools with stream',
    // Validators: "Unrecognized request argument supplied: tools", "property 'tools' is unsupported".
    '(?:unknown|unrecognized)[\\w ]*: ["\'`]?tools\\b',
    '["\'`]tools["\'`] (?:is|are) (?:not supported|not allowed|unsupported)',
    '(?:tool|function)[- ]calling is not',
  ].join('|'),
  'i',
)

const IMAGES_REFUSED = new RegExp(
  [
    // OpenAI: "image_url is only supported by certain models"; Mistral: "Image input is not enabled for this model".
    '(?:image|vision|multi-?modal)[^.]{0,40}(?:only supported|not (?:supported|enabled|available))',
    // Ollama, OpenRouter, vLLM: "does not support image input", "is not a multimodal model", "At most 0 image(s)".
    '(?:not|n.t|no endpoints found that) (?:support|a)[^.]{0,20}(?:image|vision|multi-?modal)',
    'at most 0 image|missing data required for image',
    // Text-only servers: "content must be a string", "unknown variant `image_url`, expected `text`".
    'content\\W{0,3} (?:must|should) be a (?:valid )?string|unknown variant .?image_url',
  ].join('|'),
  'i',
)

/** Templates say it in words of their own; llama.cpp only says that it cannot work with the template. */
const NO_PARSER = /unable to generate parser for this template/i
const ROLES_REFUSED = new RegExp(
  [
    'roles? (?:must|should) alternate',
    'system (?:role|messages?)[^.]{0,20} (?:not supported|must be)',
    'only user and assistant roles|unexpected (?:message )?role',
    '(?:first|last) message (?:must|should) be|no user query found',
    NO_PARSER.source,
  ].join('|'),
  'i',
)

/** Features that some servers reject, with the messages by which to recognise that. */
const FALLBACKS: readonly Fallback[] = [
  {
    concerns: (body) => 'stream_options' in body,
    refusal: /stream_options|include_usage/,
    instead: { streamUsage: false },
    report: 'stream_options: token usage is known only where it reports it unasked',
  },
  {
    concerns: (body) => 'max_tokens' in body,
    refusal: /use ['"`]?max_completion_tokens/i,
    instead: { maxTokensField: 'max_completion_tokens' },
    report: 'max_tokens: max_completion_tokens is sent instead',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: TOOLS_REFUSED,
    instead: { tools: false },
    report: 'tools: none are offered to the model',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && !areInTurn(messages),
    refusal: ROLES_REFUSED,
    instead: { roles: false },
    report: 'these roles: instructions and neighbouring messages are merged',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: NO_PARSER,
    instead: { tools: false },
    report: 'tools, in this template: none are offered to the model',
  },
  {
    concerns: ({ response_format }) =>
      objectOf(objectOf(response_format).json_schema).name === CALL_SCHEMA,
    refusal: /schema|grammar|response_format/i,
    instead: { choiceBySchema: false, namedChoice: false },
    report: 'the schema of a tool: calls are asked for by tool_choice alone',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(carriesImage),
    refusal: IMAGES_REFUSED,
    instead: { images: false },
    report: 'images: a note stands in their place',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(carriesReasoning),
    refusal: /^(?!.*(?:must be passed|missing)).*reasoning_(?:content|details)/is,
    instead: { reasoning: false },
    report: "reasoning: the model's own is not sent back to it",
  },
]

export function createDialect(): Dialect {
  return {
    streamUsage: true,
    tools: true,
    roles: true,
    namedChoice: true,
    choiceBySchema: false,
    progress: false,
    maxTokensField: 'max_tokens',
    images: true,
    reasoning: true,
  }
}

/**
 * Turns off the feature that the server rejected, for the rest of the process. Returns true if the request, built
 * again, may be accepted. That happens at most once per fallback, since each removes the feature from the request.
 */
export function fallBack(
  dialect: Dialect,
  { facts }: UpstreamFailure,
  body: object,
  log: Pick<Log, 'warn'> | undefined,
): boolean {
  const { kind, status = 0, words = '' } = facts
  if (kind !== 'status' || status < 400) return false
  const fallback = FALLBACKS.find(
    ({ concerns, refusal }) => refusal.test(words) && concerns({ ...body }),
  )
  if (!fallback) return false
  Object.assign(dialect, fallback.instead)
  log?.warn({ status }, `The chat model's server refuses ${fallback.report}`)
  return true
}

/** Whether a user and an assistant speak in turn, and nobody else; the results of tools count as the user's. */
function areInTurn(messages: readonly unknown[]): boolean {
  const roles = messages.map((message) => (isObject(message) ? message.role : undefined))
  return roles.every((role, at) =>
    role === 'tool'
      ? at > 0
      : role === (at === 0 || roles[at - 1] === 'assistant' ? 'user' : 'assistant'),
  )
}

function carriesImage(message: unknown): boolean {
  return isObject(message) && message.role === 'user' && Array.isArray(message.content)
}

function carriesReasoning(message: unknown): boolean {
  return isObject(message) && ('reasoning_content' in message || 'reasoning_details' in message)
}
