import { AppError, type ErrorCode } from '../../errors.ts'
import type { FailureFacts, UpstreamFailure } from './failures.ts'

export interface Explaining {
  model: string
  redact: (words: string) => string
  /** The chat model's, unless another upstream is talked about. */
  names?: UpstreamNames
}

/** What an operator knows an upstream by. */
export interface UpstreamNames {
  /** As in “The chat model failed”. */
  upstream: string
  /** The variables that hold its key, name and address. */
  key: string
  model: string
  baseUrl: string
  path: string
  /** What may be longer than its window. */
  input: string
}

const CHAT_MODEL: UpstreamNames = {
  upstream: 'chat model',
  key: 'CHAT_API_KEY',
  model: 'CHAT_MODEL',
  baseUrl: 'CHAT_BASE_URL',
  path: '/chat/completions',
  input: 'conversation',
}

const MAX_EXCERPT = 300
/** How the servers say that the prompt is longer than the model's window. */
export const TOO_LONG =
  /context[ _-]?(?:length|size|window)|maximum (?:prompt|input) length|prompt is too long|too many (?:input )?tokens|less than \d+ tokens|too large to process/i

/** What an operator can do about a status. Every other one is a refusal below 500, a failure above. */
const BY_STATUS: Record<number, (names: UpstreamNames, model: string) => [ErrorCode, string]> = {
  401: ({ upstream, key }) => [
    'upstream_unauthorized',
    `The ${upstream} refuses the key: check ${key}`,
  ],
  402: ({ key }) => ['upstream_refused', `The account behind ${key} has no credit or quota left`],
  403: ({ upstream, key }, model) => [
    'upstream_unauthorized',
    `The ${upstream} refuses access: check that ${key} may use the model "${model}"`,
  ],
  404: (names, model) => [
    'upstream_model_not_found',
    `The ${names.upstream} "${model}" was not found: check ${names.model}, and ${urlHint(names)}`,
  ],
  408: ({ upstream }) => ['upstream_timeout', `The ${upstream} did not answer in time`],
  413: ({ upstream }) => [
    'upstream_refused',
    `The request is larger than the ${upstream}'s server accepts`,
  ],
  429: ({ upstream }) => [
    'upstream_rate_limited',
    `The ${upstream} is asked too often: try again later`,
  ],
}

function urlHint({ baseUrl, path }: UpstreamNames): string {
  return `check that ${baseUrl} is the part of the address before ${path}; it mostly ends in /v1`
}

/** The error that a caller is told. Its cause keeps more for the log, without secrets. */
export function explainFailure({ facts }: UpstreamFailure, explaining: Explaining): AppError {
  const [code, message] = explain(facts, explaining)
  const retryAfter = facts.retryAfterMs
  return new AppError(code, message, {
    ...(code === 'upstream_rate_limited' &&
      retryAfter !== undefined && { retryAfter: Math.max(1, Math.ceil(retryAfter / 1_000)) }),
    cause: new Error(causeOf(facts, explaining.redact)),
  })
}

function explain(facts: FailureFacts, explaining: Explaining): [ErrorCode, string] {
  const { names = CHAT_MODEL } = explaining
  const { upstream } = names
  switch (facts.kind) {
    case 'unreachable':
      return [
        'upstream_failed',
        `The ${upstream} cannot be reached: check ${names.baseUrl}, and that its server runs`,
      ]
    case 'connection':
      return ['upstream_failed', `The connection to the ${upstream} broke`]
    case 'timeout':
      return ['upstream_timeout', `The ${upstream} stopped answering`]
    case 'ended-early':
      return ['upstream_failed', `The ${upstream}'s answer ended early`]
    case 'unreadable':
      return ['upstream_failed', `The ${upstream}'s answer cannot be read: ${urlHint(names)}`]
    case 'web-page':
      return [
        facts.status === 404 ? 'upstream_model_not_found' : 'upstream_failed',
        `A web page answers instead of the ${upstream}: ${urlHint(names)}`,
      ]
    case 'status':
      return explainStatus(facts, explaining, names)
    default:
      return facts.kind satisfies never
  }
}

function explainStatus(
  { status = 500, words = '' }: FailureFacts,
  { model, redact }: Explaining,
  names: UpstreamNames,
): [ErrorCode, string] {
  const { upstream, baseUrl, input } = names
  const known = BY_STATUS[status]
  if (known) return known(names, model)
  if (status >= 500) return ['upstream_failed', `The ${upstream} failed (${status})`]
  if (status < 400) {
    return ['upstream_refused', `${baseUrl} is redirected: set it to the address it leads to`]
  }
  if (TOO_LONG.test(words)) {
    return ['upstream_refused', `The ${input} is longer than the ${upstream} can read`]
  }
  const excerpt = excerptOf(words, redact)
  return ['upstream_refused', `The ${upstream} refused the request${excerpt && `: ${excerpt}`}`]
}

/**
 * A refusal's own words are what a caller needs to mend the request, so a short piece of them is shown:
 * plain sentences only, and none of the request that validators like to repeat.
 */
function excerptOf(words: string, redact: Explaining['redact']): string {
  const told = /^\s*[[{]/.test(words) ? validatorMessages(words) : words
  const own = told.split(/["'](?:input|messages|body)["']\s*:/, 1)[0] ?? ''
  const [line = ''] = redact(own)
    .trim()
    .split(/[\r\n]/, 1)
  const clean = line.replace(/[\p{Cc}\p{Cf}]/gu, '').trim()
  return clean.length > MAX_EXCERPT ? `${clean.slice(0, MAX_EXCERPT)}…` : clean
}

/** The `msg` entries of a list of validation errors, as servers made with FastAPI answer. */
function validatorMessages(words: string): string {
  return [...words.matchAll(/"msg":"([^"\\]*)"/g)].map(([, message]) => message).join('; ')
}

function causeOf({ kind, status, code, words }: FailureFacts, redact: Explaining['redact']) {
  // A refused key is often repeated, masked in part, in shapes that no pattern foresees.
  const told = status === 401 || status === 403 ? '' : redact(words ?? '')
  return [kind, status, code, told].filter(Boolean).join(' ')
}
