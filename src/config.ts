import { isDeepStrictEqual } from 'node:util'
import { SetupError } from '@agent-server/lib/errors.ts'
import { presentVariables, renamedTo } from '@agent-server/lib/former-names.ts'
import { editDistance } from '@agent-server/lib/text/edit-distance.ts'
import { type Issue, issuesOf } from '@agent-server/schemas/invalid-request.ts'
import { foldersIn, overlap } from '@agent-server/schemas/operator/watch.ts'
import type { z } from 'zod'
import { checkIndexVariables, SHARED_INDEXES } from './features.ts'
import { FORMER_VARIABLES, VARIABLES, Variables } from './variables.ts'

/** The `CHAT_MODEL` that quotes the documents instead of asking a model; it needs no key. */
export const EXTRACTIVE = 'extractive'

/** The `EMBEDDING_MODEL` of models that need no server. */
const BUILTIN = ['builtin', 'builtin-multilingual']
/** The `EMBEDDING_MODEL` for no embedder: search is by keywords alone. */
export const NO_EMBEDDER = 'none'

/** The `RERANK_MODEL` that is the chat model. */
export const THE_CHAT_MODEL = 'chat'

export const VARIABLE_NAMES = VARIABLES.map(({ name }) => name)

export type Config = Readonly<z.output<typeof Variables>>

/** Lists every mistake in the environment in one message, by variable name and never with a value. */
export class ConfigError extends SetupError {
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
  const mistakes = [
    ...(result.error ? issuesOf(result.error) : []),
    ...quotedValues(set),
    ...pathsOfShell(set),
    ...crossMistakes(set),
    ...checkIndexVariables(set),
  ]
  if (!result.success || mistakes.length > 0) {
    const mistyped = findMistyped(environment)
    const hints = mistyped.map(({ name, intended }) => ({
      field: name,
      message: mistypedAs(intended),
    }))
    throw new ConfigError([...mistakes, ...hints])
  }
  return Object.freeze(result.data)
}

/**
 * The valid part of an environment that `loadConfig` refuses, for a server that shows what is wrong; `key` becomes the
 * server key if the environment has no valid one.
 */
export function loadLenientConfig(environment: NodeJS.ProcessEnv, key: string): Config {
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const { error } = Variables.safeParse(Object.fromEntries(set))
  const values = Object.fromEntries(set)
  const mistakes = [
    ...(error ? issuesOf(error) : []),
    ...quotedValues(values),
    ...pathsOfShell(values),
  ]
  const wrong = new Set(mistakes.map(({ field }) => field))
  const right = Object.fromEntries(set.filter(([name]) => !wrong.has(name)))
  return Object.freeze(Variables.parse({ SERVER_API_KEY: key, ...right }))
}

export const presentName = (name: string) =>
  (Object.hasOwn(FORMER_VARIABLES, name) && FORMER_VARIABLES[name]) || name

const isSetting = (name: string) => VARIABLE_NAMES.includes(presentName(name))

/** An environment with the present names of its settings; an empty one counts as not set. */
function presentSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const set = Object.entries(environment).filter(([name, value]) => value || !isSetting(name))
  return { ...Object.fromEntries(set), ...presentVariables(environment, FORMER_VARIABLES) }
}

/** The variables of a process with those of a file, of which the given ones win, whatever they are called. */
export const settingsFrom = (given: NodeJS.ProcessEnv, file: NodeJS.ProcessEnv = {}) => ({
  ...presentSettings(file),
  ...presentSettings(given),
})

/** Shorter names are near to too many others. */
const MIN_NAME = 7
const MAX_TYPOS = 2

export const mistypedAs = (intended: string) => `is not a setting: did you mean ${intended}?`

/** Variables that are no settings, but nearly the name of one that is not set. */
export function findMistyped(environment: NodeJS.ProcessEnv): { name: string; intended: string }[] {
  const unset = VARIABLE_NAMES.filter((name) => !environment[name] && name.length >= MIN_NAME)
  return Object.keys(environment).flatMap((name) => {
    if (VARIABLE_NAMES.includes(name)) return []
    const intended = unset.find(
      (candidate) =>
        Math.abs(candidate.length - name.length) <= MAX_TYPOS &&
        editDistance(name.toUpperCase(), candidate) <= MAX_TYPOS,
    )
    return intended ? [{ name, intended }] : []
  })
}

/** Notices about variables whose names are mistyped or former ones, and of those that their file cuts short. */
export function noticesOf(environment: NodeJS.ProcessEnv, cut: readonly string[] = []): string[] {
  const mistyped = findMistyped(environment).map(
    ({ name, intended }) => `${name} ${mistypedAs(intended)}`,
  )
  const former = Object.entries(FORMER_VARIABLES).flatMap(([name, present]) =>
    environment[name] ? [`${name} ${renamedTo(present)}`] : [],
  )
  const short = cut.map(
    (name) => `${name} ends before the # in .env: put the value in quotes if it goes on there`,
  )
  return [...mistyped, ...former, ...short]
}

/** What a deployment takes over: the variables that are set, and the limits that apply even if they are not. */
export function settingsOf(environment: NodeJS.ProcessEnv, config: Config) {
  const set = VARIABLE_NAMES.flatMap((name) => {
    const value = environment[name]
    return value ? [[name, value] as const] : []
  })
  const { AGENT_CONFIG: agentConfig, SHUTDOWN_GRACE: grace, FILE_LIMIT: fileLimit } = config
  return {
    agentConfig,
    variables: Object.fromEntries(set),
    grace,
    fileLimit,
    indexes: SHARED_INDEXES,
  }
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

/** Values with the quotes of a file that were taken for a part of them, as by `docker run --env-file`. */
function quotedValues(set: Record<string, string | undefined>): Issue[] {
  const quoted = VARIABLE_NAMES.filter((name) => /^(["'])[^"']*\1?$/.test(set[name] ?? ''))
  return quoted.map((field) => ({
    field,
    message: 'must not begin with a quote: leave quotes out, or close them in .env',
  }))
}

const WHOLE_PATH =
  'must not begin with ~, which only a shell replaces: write the whole path (earlier versions used a folder ./~)'

/** Paths that begin with what a shell would replace, and nothing else does: the folder `~` would be made. */
function pathsOfShell(set: Record<string, string | undefined>): Issue[] {
  const { DATA_DIR = '', AGENT_CONFIG = '', WATCH_FOLDERS } = set
  const watched = foldersIn(WATCH_FOLDERS).map(({ path }) => path)
  const paths = Object.entries({
    DATA_DIR: [DATA_DIR],
    AGENT_CONFIG: [AGENT_CONFIG],
    WATCH_FOLDERS: watched,
  })
  return paths
    .filter(([, values]) => values.some((path) => /^~(?:[\\/]|$)/.test(path)))
    .map(([field]) => ({ field, message: WHOLE_PATH }))
}

/** Checks variables against each other. Each rule: its message, and whether it is violated. */
function crossMistakes(set: Record<string, string | undefined>): Issue[] {
  const { CHAT_API_KEY: chatKey, EMBEDDING_API_KEY: embedderKey = chatKey } = set
  const { EMBEDDING_API_KEY_NEXT: nextKey = embedderKey } = set
  const { RERANK_API_KEY: rerankerKey = embedderKey } = set
  const addresses = SHARED_INDEXES.map(({ address }) => address)
  const isSet = (name: string) => set[name] !== undefined
  const isServed = (name: string) => ![undefined, ...BUILTIN, NO_EMBEDDER].includes(set[name])
  const rules: [string, boolean][] = [
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
      `${addresses.join(' or ')} is required with DATABASE_URL: an index on the disk of one server would miss the changes of the others`,
      isSet('DATABASE_URL') && !addresses.some(isSet),
    ],
    [
      'OIDC_CLIENT_ID is required with OIDC_ISSUER',
      isSet('OIDC_ISSUER') && !isSet('OIDC_CLIENT_ID'),
    ],
    [
      'WATCH_FOLDERS must not contain DATA_DIR, nor lie within it',
      foldersIn(set.WATCH_FOLDERS).some(({ path }) => overlap(path, set.DATA_DIR ?? './data')),
    ],
    [
      `RERANK_API_KEY is required with RERANK_MODEL where there is no EMBEDDING_API_KEY or CHAT_API_KEY ${ANY_KEY}`,
      isSet('RERANK_MODEL') && set.RERANK_MODEL !== THE_CHAT_MODEL && !rerankerKey,
    ],
    [
      `RERANK_MODEL must not be ${THE_CHAT_MODEL} with CHAT_MODEL=${EXTRACTIVE}, which cannot rerank`,
      set.RERANK_MODEL === THE_CHAT_MODEL && set.CHAT_MODEL === EXTRACTIVE,
    ],
    [
      `CITATION_CHECK must be words with CHAT_MODEL=${EXTRACTIVE}, which judges nothing`,
      set.CITATION_CHECK === 'model' && set.CHAT_MODEL === EXTRACTIVE,
    ],
    [
      `CHUNK_CONTEXT must be off with CHAT_MODEL=${EXTRACTIVE}, which writes nothing`,
      set.CHUNK_CONTEXT === 'chat' && set.CHAT_MODEL === EXTRACTIVE,
    ],
    [
      `PICTURE_DESCRIPTIONS must be off with CHAT_MODEL=${EXTRACTIVE}, which sees nothing`,
      set.PICTURE_DESCRIPTIONS === 'chat' && set.CHAT_MODEL === EXTRACTIVE,
    ],
  ]
  return rules.flatMap(([rule, isViolated]) => {
    const [field = '', ...words] = rule.split(' ')
    return isViolated ? [{ field, message: words.join(' ') }] : []
  })
}

const ANY_KEY = '(any value for servers that need none)'

/** What shuts others out: no server goes back to another value of these. */
const SHUTS_OUT = /^OIDC_|^(?:OUTBOUND_ALLOW|TRUST_PROXY|CORS_ORIGIN)$/
const STORE = /^(?:DATABASE_URL|DATA_DIR)$/

/**
 * The variables that have worked, with the saved master key: one that was taken out does not come back. Undefined if
 * they are those that do not start, or would let in whom the saved ones do not.
 */
export function asBefore(
  worked: NodeJS.ProcessEnv,
  saved: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv | undefined {
  const hasKey = !findMistakes(saved).some(({ field }) => field === 'SERVER_API_KEY')
  if (!hasKey || differs(SHUTS_OUT, worked, saved)) return undefined
  const before = { ...worked, SERVER_API_KEY: saved.SERVER_API_KEY }
  return isDeepStrictEqual(before, { ...saved }) ? undefined : before
}

/** A store that was open may hold by now what the one before does not. */
export const isOtherStore = (worked: NodeJS.ProcessEnv, saved: NodeJS.ProcessEnv): boolean =>
  differs(STORE, worked, saved)

const differs = (names: RegExp, worked: NodeJS.ProcessEnv, saved: NodeJS.ProcessEnv) =>
  VARIABLE_NAMES.some((name) => names.test(name) && worked[name] !== saved[name])
