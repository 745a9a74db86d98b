import { isIP } from 'node:net'
import { z } from 'zod'
import { ANALYSER_LANGUAGES } from './indexes/analyser/languages.ts'
import { MEMORY_PLACEMENTS, QUANTISATIONS } from './indexes/qdrant-settings.ts'
import { createOutboundPolicy } from './lib/outbound/policy.ts'
import { type Issue, issuesOf } from './schemas/invalid-request.ts'

const number = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))

const oneOf = <Value extends string>(values: readonly Value[]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

const list = (fits: (entries: string[]) => boolean, error: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine(fits, { error })
    .optional()

const httpUrl = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http:// or https://',
})

/** One URL, or several of interchangeable servers, such as the nodes of a cluster. */
const httpUrls = z
  .string()
  .refine(
    (text) => text.split(',').every((url) => httpUrl.safeParse(url.trim()).success),
    'must be a URL that begins with http:// or https://, or several, separated by commas',
  )

// Anything else cannot be sent in an HTTP header.
const KEY = [/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'] as const
const upstreamKey = z
  .string()
  .regex(...KEY)
  .optional()

/** The `CHAT_MODEL` that quotes the documents instead of asking a model; it needs no key. */
export const EXTRACTIVE = 'extractive'

/** The `EMBEDDING_MODEL` that ships with the server. */
export const BUILTIN = 'builtin'
/** The `EMBEDDING_MODEL` for no embedder: search is by keywords alone. */
export const NO_EMBEDDER = 'none'

const MIN_KEY_LENGTH = 16
/** How placeholder keys in documentation begin, ours or anyone else's. */
const EXAMPLE_KEY = /^(?:change|replace|your|my|example)[-_]/i

// Defaults are strings, as the environment would hold them, and the same as in .env.example.
const Variables = z.object({
  SERVER_API_KEY: z
    .string({ error: 'is required: the key that every request must present' })
    .min(MIN_KEY_LENGTH, `must have at least ${MIN_KEY_LENGTH} characters`)
    .regex(...KEY)
    .refine((key) => !EXAMPLE_KEY.test(key), 'must be a key of your own: that one is an example'),
  HOST: z.string().default('127.0.0.1'),
  PORT: number(0, 65_535).prefault('3000'),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: z
    .url({
      protocol: /^postgres(ql)?$/,
      hostname: /./,
      error: 'must be a URL like postgres://user:password@host:5432/database',
    })
    .optional(),
  DATABASE_POOL: number(2, 1_000).prefault('10'),
  TOP_K: number(1, 100).prefault('5'),
  CHAT_API_KEY: upstreamKey,
  CHAT_MODEL: z.string().max(256).default('gpt-5-mini'),
  CHAT_BASE_URL: httpUrl.default('https://api.openai.com/v1'),
  CHAT_CONTEXT_TOKENS: number(1_000, 10_000_000).prefault('32768'),
  CHAT_IDLE_TIMEOUT: number(1, 3_600).prefault('120'),
  CHAT_CONCURRENCY: number(1, 100_000).prefault('2000'),
  EMBEDDING_MODEL: z.string().max(256).optional(),
  EMBEDDING_BASE_URL: httpUrl.optional(),
  EMBEDDING_API_KEY: upstreamKey,
  EMBEDDING_MODEL_NEXT: z.string().max(256).optional(),
  EMBEDDING_BASE_URL_NEXT: httpUrl.optional(),
  EMBEDDING_API_KEY_NEXT: upstreamKey,
  RERANK_MODEL: z.string().max(256).optional(),
  RERANK_BASE_URL: httpUrl.optional(),
  RERANK_API_KEY: upstreamKey,
  SEARCH_LANGUAGE: oneOf(ANALYSER_LANGUAGES).default('english'),
  OCR: oneOf(['on', 'off']).default('on'),
  OCR_LANGUAGES: z
    .string()
    .regex(
      /^[a-zA-Z_]{3,20}(?:[ ,+][a-zA-Z_]{3,20}){0,7}$/,
      'must be languages such as eng or deu+fra',
    )
    .default('eng'),
  INGEST_CONCURRENCY: number(1, 512).prefault('128'),
  INGEST_QUEUE_LIMIT: number(1, 10_000_000).prefault('10000'),
  BODY_LIMIT: number(1_000, 1_000_000_000).prefault('10000000'),
  FILE_LIMIT: number(1_000, 1_000_000_000).prefault('200000000'),
  SHUTDOWN_GRACE: number(0, 600).prefault('10'),
  QDRANT_URL: httpUrls.optional(),
  QDRANT_API_KEY: upstreamKey,
  QDRANT_COLLECTION: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be at most 64 letters, digits, _ or -')
    .default('agent-server'),
  QDRANT_TIMEOUT: number(1, 300).prefault('10'),
  QDRANT_SHARDS: number(1, 1_000).prefault('1'),
  QDRANT_REPLICAS: number(1, 16).prefault('1'),
  QDRANT_WRITE_CONSISTENCY: number(1, 16).prefault('1'),
  QDRANT_QUANTIZATION: oneOf(QUANTISATIONS).default('int8'),
  QDRANT_VECTORS_MEMORY: oneOf(MEMORY_PLACEMENTS).default('cold'),
  QDRANT_TERMS_MEMORY: oneOf(MEMORY_PLACEMENTS).default('cached'),
  QDRANT_FILTERS_MEMORY: oneOf(MEMORY_PLACEMENTS).default('cached'),
  DOCKER_HOST: z.string().max(1_000).optional(),
  E2B_API_KEY: upstreamKey,
  E2B_API_URL: httpUrl.optional(),
  AGENT_CONFIG: z.string().default('./agent.json'),
  SERVER_MODE: oneOf(['agent', 'knowledge']).default('agent'),
  FAILED_START: oneOf(['exit', 'screen']).optional(),
  UI: oneOf(['on', 'off']).default('on'),
  CORS_ORIGIN: list(
    (origins) => origins.every(isOrigin),
    'must be origins like https://example.org, separated by commas, or *',
  ),
  TRUST_PROXY: list(
    areProxies,
    'must be the number of proxies in front, 1 to 10, or their addresses and ranges like 10.0.0.0/8, separated by commas',
  ).transform((entries) => Number(entries?.[0]) || entries),
  OUTBOUND_ALLOW: list(
    areOutboundEntries,
    'must be host names, addresses or ranges like 10.0.0.0/8, separated by commas',
  ),
  FETCH_URLS: oneOf(['on', 'off']).default('on'),
  FETCH_IGNORE_ROBOTS: list(areOutboundEntries, 'must be host names, separated by commas'),
  WEBHOOK_URL: httpUrl.optional(),
  WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, {
      error: 'must be whsec_ and then 24 to 64 bytes in base64',
    })
    .optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    })
    .default('info'),
})

/** Browsers send only scheme, host and port as the origin, so nothing else could ever match. */
function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text)
}

const MAX_PROXIES = 32

/** Refuses a range of all addresses (`/0`): it would trust what any caller claims about itself. */
function areProxies(entries: string[]): boolean {
  if (entries.length === 1 && /^(?:[1-9]|10)$/.test(entries[0] ?? '')) return true
  return entries.length <= MAX_PROXIES && entries.every(isAddressOrRange)
}

function isAddressOrRange(entry: string): boolean {
  const [, address = '', bits = '1'] = /^([\da-f.:]+)(?:\/([1-9]\d{0,2}))?$/i.exec(entry) ?? []
  return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128)
}

function areOutboundEntries(entries: string[]): boolean {
  try {
    createOutboundPolicy(entries)
    return true
  } catch {
    return false
  }
}

export const VARIABLE_NAMES = Object.keys(Variables.shape)

/** The default of each variable, as the environment would hold it; undefined if it has none. */
export const DEFAULTS: ReadonlyMap<string, string | undefined> = new Map(
  Object.entries(Variables.shape).map(([name, schema]) => {
    const { data } = schema.safeParse(undefined)
    return [name, data === undefined ? undefined : String(data)]
  }),
)

export type Config = Readonly<z.output<typeof Variables>>

/** Lists every mistake in the environment in one message, by variable name and never with a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly Issue[]

  constructor(mistakes: readonly Issue[]) {
    const lines = mistakes.map(({ field, message }) => `  ${field} ${message}`)
    super(`The environment is not right:\n${[...new Set(lines)].join('\n')}`)
    this.mistakes = mistakes
  }
}

/** Reads and checks the whole environment; an empty variable counts as not set. Throws `ConfigError`. */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const result = Variables.safeParse(set)
  const mistakes = [...(result.error ? issuesOf(result.error) : []), ...crossMistakes(set)]
  if (!result.success || mistakes.length > 0) throw new ConfigError(mistakes)
  return Object.freeze(result.data)
}

/**
 * The valid part of an environment that `loadConfig` refuses, for a server that shows what is wrong; `key` becomes the
 * server key if the environment has no valid one.
 */
export function salvageConfig(environment: NodeJS.ProcessEnv, key: string): Config {
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const { error } = Variables.safeParse(Object.fromEntries(set))
  const wrong = new Set(error ? issuesOf(error).map(({ field }) => field) : [])
  const right = Object.fromEntries(set.filter(([name]) => !wrong.has(name)))
  return Object.freeze(Variables.parse({ SERVER_API_KEY: key, ...right }))
}

/** What a deployment takes over: the variables that are set, and the limits that apply even if they are not. */
export function settingsOf(environment: NodeJS.ProcessEnv, config: Config) {
  const set = VARIABLE_NAMES.flatMap((name) => {
    const value = environment[name]
    return value ? [[name, value] as const] : []
  })
  const { SHUTDOWN_GRACE: grace, FILE_LIMIT: fileLimit } = config
  return { variables: Object.fromEntries(set), grace, fileLimit }
}

/**
 * The model to embed with: `builtin` if none is chosen and the documents are English, the only language it knows;
 * undefined if search is by keywords alone.
 */
export function embeddingModel(config: Config): string | undefined {
  const { EMBEDDING_MODEL: chosen, SEARCH_LANGUAGE: language } = config
  const model = chosen ?? (language === 'english' ? BUILTIN : NO_EMBEDDER)
  return model === NO_EMBEDDER ? undefined : model
}

/** The mistakes for which `loadConfig` would throw; empty if there are none. */
export function findMistakes(environment: NodeJS.ProcessEnv): readonly Issue[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}

/** Checks variables against each other: below, each possible mistake stands with whether it was made. */
function crossMistakes(set: Record<string, string | undefined>): Issue[] {
  const { CHAT_API_KEY: chatKey, EMBEDDING_API_KEY: embedderKey = chatKey } = set
  const { EMBEDDING_API_KEY_NEXT: nextKey = embedderKey } = set
  const { RERANK_API_KEY: rerankerKey = embedderKey } = set
  const { QDRANT_REPLICAS: copies = '1', QDRANT_WRITE_CONSISTENCY: awaited = '1' } = set
  const isSet = (name: string) => set[name] !== undefined
  const isServed = (name: string) => ![undefined, BUILTIN, NO_EMBEDDER].includes(set[name])
  const mistakes: [string, boolean][] = [
    [
      `CHAT_API_KEY is required ${ANY_KEY}, or CHAT_MODEL=${EXTRACTIVE} to answer without a model`,
      set.CHAT_MODEL !== EXTRACTIVE && !chatKey,
    ],
    [
      'WEBHOOK_SECRET is required with WEBHOOK_URL: echo whsec_$(head -c 32 /dev/urandom | base64)',
      isSet('WEBHOOK_URL') && !isSet('WEBHOOK_SECRET'),
    ],
    [
      `EMBEDDING_API_KEY is required with EMBEDDING_MODEL where there is no CHAT_API_KEY ${ANY_KEY}`,
      isServed('EMBEDDING_MODEL') && !embedderKey,
    ],
    [
      `EMBEDDING_API_KEY_NEXT is required with EMBEDDING_MODEL_NEXT where there is no EMBEDDING_API_KEY or CHAT_API_KEY ${ANY_KEY}`,
      isServed('EMBEDDING_MODEL_NEXT') && !nextKey,
    ],
    [
      `EMBEDDING_MODEL_NEXT must not be ${NO_EMBEDDER}: search by words alone needs no change, set EMBEDDING_MODEL=${NO_EMBEDDER}`,
      set.EMBEDDING_MODEL_NEXT === NO_EMBEDDER,
    ],
    [
      'QDRANT_URL is required with DATABASE_URL: an index on the disk of one server would not know what the others do',
      isSet('DATABASE_URL') && !isSet('QDRANT_URL'),
    ],
    [
      'QDRANT_WRITE_CONSISTENCY must not be more than QDRANT_REPLICAS',
      Number(awaited) > Number(copies),
    ],
    [
      `RERANK_API_KEY is required with RERANK_MODEL where there is no EMBEDDING_API_KEY or CHAT_API_KEY ${ANY_KEY}`,
      isSet('RERANK_MODEL') && !rerankerKey,
    ],
  ]
  return mistakes.flatMap(([mistake, isMade]) => {
    const [field = '', ...words] = mistake.split(' ')
    return isMade ? [{ field, message: words.join(' ') }] : []
  })
}

const ANY_KEY = '(any value for servers that ask for none)'
