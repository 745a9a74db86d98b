import type { ModelLog } from './connection.ts'
import type { UpstreamFailure } from './failures.ts'
import { isObject, type JsonObject } from './json.ts'

/** What a chat-completions server turned out to accept. */
export interface Dialect {
  streamUsage: boolean
  tools: boolean
  /** `max_tokens` is refused loudly where it is unknown; its successor is often ignored silently. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether a model's reasoning may go back with the tool results. */
  reasoning: boolean
}

interface Lesson {
  /** True for a body that holds what the refusal is about. */
  concerns: (body: JsonObject) => boolean
  refusal: RegExp
  instead: Partial<Dialect>
  told: string
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

/** What servers are known to refuse, how they say it, and what to send instead. */
const LESSONS: readonly Lesson[] = [
  {
    concerns: (body) => 'stream_options' in body,
    refusal: /stream_options|include_usage/,
    instead: { streamUsage: false },
    told: 'stream_options: token usage is known only where it reports it unasked',
  },
  {
    concerns: (body) => 'max_tokens' in body,
    refusal: /use ['"`]?max_completion_tokens/i,
    instead: { maxTokensField: 'max_completion_tokens' },
    told: 'max_tokens: max_completion_tokens is sent instead',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: TOOLS_REFUSED,
    instead: { tools: false },
    told: 'tools: none are offered to the model',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(carriesReasoning),
    refusal: /^(?!.*(?:must be passed|missing)).*reasoning_(?:content|details)/is,
    instead: { reasoning: false },
    told: "reasoning: the model's own is not sent back to it",
  },
]

/** The most times that one request can be written anew. */
export const MAX_LESSONS = LESSONS.length

export function createDialect(): Dialect {
  return { streamUsage: true, tools: true, maxTokensField: 'max_tokens', reasoning: true }
}

/**
 * Learns from a refusal what the server does not accept, for the rest of the process. True when the same
 * request, written anew, may be accepted.
 */
export function learnDialect(
  dialect: Dialect,
  { facts }: UpstreamFailure,
  body: JsonObject,
  log: ModelLog | undefined,
): boolean {
  const { kind, status = 0, words = '' } = facts
  if (kind !== 'status' || status < 400) return false
  const lesson = LESSONS.find(({ concerns, refusal }) => refusal.test(words) && concerns(body))
  if (!lesson) return false
  Object.assign(dialect, lesson.instead)
  log?.warn({ status }, `The chat model's server refuses ${lesson.told}`)
  return true
}

function carriesReasoning(message: unknown): boolean {
  return isObject(message) && ('reasoning_content' in message || 'reasoning_details' in message)
}
