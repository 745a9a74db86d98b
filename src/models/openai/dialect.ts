import type { ModelLog, UpstreamFailure } from './failures.ts'
import { isObject, type JsonObject } from './json.ts'

/** What a chat-completions server turned out to accept. */
export interface Dialect {
  streamUsage: boolean
  tools: boolean
  /** `max_tokens` is refused loudly where it is unknown; its successor is often ignored silently. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether the model sees. */
  images: boolean
  /** Whether a model's reasoning may go back with the tool results. */
  reasoning: boolean
}

/** What is sent instead of what a server refuses. */
interface Fallback {
  /** True for a body that holds what the refusal is about. */
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
    // Servers of text alone: "content must be a string", "unknown variant `image_url`, expected `text`".
    'content\\W{0,3} (?:must|should) be a (?:valid )?string|unknown variant .?image_url',
  ].join('|'),
  'i',
)

/** What servers are known to refuse, and how they say it. */
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
    ...{ streamUsage: true, tools: true, maxTokensField: 'max_tokens' },
    ...{ images: true, reasoning: true },
  }
}

/**
 * Leaves out what the server refused, for the rest of the process. True when the same request, written
 * anew, may be accepted: as often as there are fallbacks at most, since each takes away what it is about.
 */
export function fallBack(
  dialect: Dialect,
  { facts }: UpstreamFailure,
  body: JsonObject,
  log: ModelLog | undefined,
): boolean {
  const { kind, status = 0, words = '' } = facts
  if (kind !== 'status' || status < 400) return false
  const fallback = FALLBACKS.find(({ concerns, refusal }) => refusal.test(words) && concerns(body))
  if (!fallback) return false
  Object.assign(dialect, fallback.instead)
  log?.warn({ status }, `The chat model's server refuses ${fallback.report}`)
  return true
}

function carriesImage(message: unknown): boolean {
  return isObject(message) && message.role === 'user' && Array.isArray(message.content)
}

function carriesReasoning(message: unknown): boolean {
  return isObject(message) && ('reasoning_content' in message || 'reasoning_details' in message)
}
