import { AppError, type ErrorCode } from '@agent-server/lib/errors.ts'
import { type FailureFacts, toUpstreamFailure } from './failures.ts'
import { meaningOf } from './meaning.ts'
import { isTooLong } from './too-long.ts'

/** The names by which an operator knows an upstream. */
export interface UpstreamNames {
  /** As in “The chat model failed”. */
  upstream: string
  /** The environment variables for its key, model name and address. */
  key: string
  model: string
  baseUrl: string
  path: string
  /** What may be too long for its window, and what to do then. */
  input: string
  adviceText?: string
  /** How long it may be silent, if that can be set. */
  timeoutVariable?: string
}

export const CHAT_MODEL: UpstreamNames = {
  upstream: 'chat model',
  key: 'CHAT_API_KEY',
  model: 'CHAT_MODEL',
  baseUrl: 'CHAT_BASE_URL',
  path: '/chat/completions',
  input: 'question',
  adviceText: ': shorten it, or add its text as a document',
  timeoutVariable: 'CHAT_IDLE_TIMEOUT',
}

export const EMBEDDING_MODEL: UpstreamNames = {
  upstream: 'embedding model',
  key: 'EMBEDDING_API_KEY',
  model: 'EMBEDDING_MODEL',
  baseUrl: 'EMBEDDING_BASE_URL',
  path: '/embeddings',
  input: 'text',
}

export const RERANK_MODEL: UpstreamNames = {
  upstream: 'reranking model',
  key: 'RERANK_API_KEY',
  model: 'RERANK_MODEL',
  baseUrl: 'RERANK_BASE_URL',
  path: '/rerank',
  input: 'passage',
}

/** The model that was called, and the key, which no error may show. */
interface Server {
  names: UpstreamNames
  model: string
  apiKey: string
}

const MAX_EXCERPT = 300
const overloaded = ({ upstream }: UpstreamNames): [ErrorCode, string] => [
  'upstream_failed',
  `The ${upstream}'s server is overloaded or not ready: try again later`,
]
/** What an operator can do about a status. Others are refusals below 500 and failures from 500 on. */
const BY_STATUS: Record<number, (names: UpstreamNames, model: string) => [ErrorCode, string]> = {
  401: ({ upstream, key }) => [
    'upstream_unauthorized',
    `The ${upstream} refused the key: check ${key}`,
  ],
  402: ({ key }) => ['upstream_refused', `The account behind ${key} has no credit or quota left`],
  403: ({ upstream, key }, model) => [
    'upstream_unauthorized',
    `The ${upstream} refused access: check that ${key} may use the model "${model}"`,
  ],
  404: (names, model) => [
    'upstream_model_not_found',
    `The ${names.upstream} "${model}" was not found: check ${names.model}, and ${urlHint(names)}`,
  ],
  408: ({ upstream }) => [
    'upstream_timeout',
    `The ${upstream} did not respond in time: try again later`,
  ],
  410: (names, model) => [
    'upstream_model_not_found',
    `The ${names.upstream} "${model}" is no longer offered: choose another with ${names.model}`,
  ],
  413: ({ upstream, adviceText = '' }) => [
    'upstream_refused',
    `The request is larger than the ${upstream}'s server accepts${adviceText}`,
  ],
  503: overloaded,
  // Anthropic's own.
  529: overloaded,
}

function urlHint({ baseUrl, path }: UpstreamNames): string {
  return `check that ${baseUrl} is the part of the URL before ${path}; it usually ends in /v1`
}

/** Where the provider does not say when to try again. */
const RETRY_AFTER_MS = 5_000

/** The error to show to the caller for anything thrown. Its cause has more details for the log, without secrets. */
export function explainFailure(thrown: unknown, target: Server): AppError {
  const { facts } = toUpstreamFailure(thrown)
  const [code, message] = explain(facts, target)
  const { retryAfterMs = RETRY_AFTER_MS } = facts
  return new AppError(code, message, {
    ...(code === 'upstream_rate_limited' && {
      retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    }),
    cause: new Error(causeOf(facts, target)),
  })
}

function explain(facts: FailureFacts, target: Server): [ErrorCode, string] {
  const { names } = target
  const { upstream, timeoutVariable } = names
  switch (facts.kind) {
    case 'unreachable':
      return [
        'upstream_failed',
        `The ${upstream} cannot be reached: check ${names.baseUrl}, and that its server is running`,
      ]
    case 'connection':
      return ['upstream_failed', `The connection to the ${upstream} was lost: try again`]
    case 'timeout':
      return [
        'upstream_timeout',
        `The ${upstream} stopped responding${timeoutVariable ? `: check its server; ${timeoutVariable} is how long it may be silent` : ''}`,
      ]
    case 'ended-early':
      return ['upstream_failed', `The ${upstream}'s answer ended early: ${againOrLog(names)}`]
    case 'unreadable':
      return ['upstream_failed', `The ${upstream}'s answer cannot be read: ${urlHint(names)}`]
    case 'web-page':
      return explainWebPage(facts, names)
    case 'status':
      return explainStatus(facts, target)
    default:
      return facts.kind satisfies never
  }
}

const againOrLog = ({ upstream }: UpstreamNames): string =>
  `try again, and look into the log of the ${upstream}'s server if it happens again`

/** A page with 401 or 403 is of what stands before a server, and takes a program for a robot. */
function explainWebPage({ status }: FailureFacts, names: UpstreamNames): [ErrorCode, string] {
  const { upstream, baseUrl } = names
  if (status === 401 || status === 403) {
    return [
      'upstream_failed',
      `A proxy before the ${upstream} refuses the request with a web page (${status}): let it pass what this server asks, or set ${baseUrl} to an address without it`,
    ]
  }
  return [
    status === 404 ? 'upstream_model_not_found' : 'upstream_failed',
    `The URL of the ${upstream} returns a web page: ${urlHint(names)}`,
  ]
}

/** For how long to wait, in words. */
function inWords(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return 'later'
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  if (seconds < 120) return `in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `in ${minutes} minutes` : `in ${Math.round(minutes / 60)} hours`
}

function explainStatus(facts: FailureFacts, target: Server): [ErrorCode, string] {
  const { names, model } = target
  const { upstream, baseUrl, input, adviceText = '' } = names
  const { rawMessage = '' } = facts
  const status = meaningOf(facts)
  if (status !== 413 && isTooLong(facts)) {
    return [
      'context_length_exceeded',
      `The ${input} is longer than the ${upstream} can read${adviceText}`,
    ]
  }
  if (status === 429) {
    const wait = inWords(facts.retryAfterMs)
    return [
      'upstream_rate_limited',
      `The ${upstream} receives too many requests: try again ${wait}`,
    ]
  }
  const explanation = BY_STATUS[status]
  if (explanation) return explanation(names, model)
  if (status >= 500) return explainFault(facts, target)
  if (status < 400) {
    return ['upstream_refused', `${baseUrl} is redirected: set it to the target of the redirect`]
  }
  const excerpt = excerptOf(rawMessage, target)
  const advice = TOO_MANY_TOOLS.test(rawMessage) ? ' Offer it fewer tools.' : ''
  return [
    'upstream_refused',
    `The ${upstream} refused the request${excerpt && `: ${excerpt}`}${advice}`,
  ]
}

/** OpenAI: "Invalid 'tools': array too long. Expected an array with maximum length 128, …". */
const TOO_MANY_TOOLS = /'tools'?:? .*too long|too many (?:tools|functions)/i
/** The only parts of a server's failure that are passed on: they are about the server, not about the request. */
const NO_MEMORY = /\bmodel requires more system memory(?: \([\d.]+ [KMGT]iB\))?/i

function explainFault(
  { status = 500, rawMessage = '' }: FailureFacts,
  { names }: Server,
): [ErrorCode, string] {
  const [memory] = NO_MEMORY.exec(rawMessage) ?? []
  const advice = memory
    ? `the ${memory}: choose a smaller model with ${names.model}`
    : againOrLog(names)
  return ['upstream_failed', `The ${names.upstream} failed (${status}): ${advice}`]
}

/**
 * A short excerpt of a refusal's text, which the caller needs to correct the request: plain sentences only, without the
 * parts of the request that validators often repeat.
 */
function excerptOf(words: string, { apiKey }: Server): string {
  const plain = /^\s*[[{]/.test(words) ? validatorMessages(words) : words
  const beforeRequest = plain.split(/["'](?:input|messages|body)["']\s*:/, 1)[0] ?? ''
  const [line = ''] = redact(beforeRequest, apiKey)
    .trim()
    // The cause of the error that a line announces is on the next line.
    .replace(/:\s*[\r\n]+\s*/g, ': ')
    .split(/[\r\n]/, 1)
  const clean = line.replace(/[\p{Cc}\p{Cf}]/gu, '').trim()
  return clean.length > MAX_EXCERPT ? `${clean.slice(0, MAX_EXCERPT)}…` : clean
}

/** The `msg` entries of a list of validation errors, the format of FastAPI servers. */
function validatorMessages(words: string): string {
  return [...words.matchAll(/"msg":"([^"\\]*)"/g)].map(([, message]) => message).join('; ')
}

function causeOf(
  { kind, status, code, rawMessage = '' }: FailureFacts,
  { apiKey }: Server,
): string {
  // Errors about a key often repeat it, partly masked, in forms that no pattern covers.
  const excerpt = status === 401 || status === 403 ? '' : redact(rawMessage, apiKey)
  return [kind, status, code, excerpt].filter(Boolean).join(' ')
}

/** A shorter key is a placeholder, for servers without keys, and may occur in any word. */
const SHORTEST_SECRET = 4
const HIDDEN = '[hidden]'

/** Keys in providers' formats, whole or partly masked, account names, and addresses. */
const SECRETS = [
  /\bBearer\s+\S+/gi,
  /\b(?:sk|pk|rk|gsk|xai|nvapi|hf|ghp|org|proj|user)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\bhttps?:\/\/\S+/gi,
]

/** Hides `apiKey`, anything that looks like a key, and addresses in a text of the upstream. */
function redact(words: string, apiKey: string): string {
  // Remove invisible characters first: within a key they would prevent a match.
  const plain = words.replace(/(?![\r\n\t])[\p{Cc}\p{Cf}]/gu, '')
  const keyless = apiKey.length < SHORTEST_SECRET ? plain : plain.replaceAll(apiKey, HIDDEN)
  return SECRETS.reduce((text, pattern) => text.replace(pattern, HIDDEN), keyless)
}
