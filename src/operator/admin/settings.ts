import { parseEnv } from 'node:util'
import { type Environment, isSecret } from '@agent-server/lib/environment.ts'
import { AppError, SetupError } from '@agent-server/lib/errors.ts'
import { type FormerNames, presentVariables } from '@agent-server/lib/former-names.ts'
import { type Issue, invalidRequest, refusal } from '@agent-server/schemas/invalid-request.ts'
import type {
  Settings,
  SettingsPatch,
  SettingsSaved,
} from '@agent-server/schemas/operator/admin.ts'
import { type Caller, isMaster } from '@agent-server/schemas/operator/api-key.ts'
import { type Edit, type FileContent, openEditedFile } from './edited-file.ts'
import { editEnvironment } from './env-file.ts'

/** Variables that the system or the runtime itself reads: the agent configuration cannot make them settable here. */
const OF_THE_SYSTEM = /^(?:NODE|LD|DYLD|NPM)_|^(?:PATH|HOME|SHELL|ENV|BASH_ENV)$/i
/**
 * Who administers must not move the server away from where others reach it, nor shorten what is known of it: how long is
 * kept who did what, and who used what.
 */
const GUARDED = ['PORT', 'AUDIT_DAYS', 'USAGE_DAYS']
/** Free text that is no secret and names nothing that the server opens or calls. */
const PLAIN_TEXT =
  /^(?:CHAT|EMBEDDING|RERANK)_MODEL(?:_NEXT)?$|^(?:OCR_LANGUAGES|CHAT_REASONING_EFFORT)$/
/** Four characters of a shorter secret would reveal too much. */
const MIN_SHOWN_LENGTH = 16
const SHOWN = 4
/** Never shown, not even in part. */
const MASTER_KEY = 'SERVER_API_KEY'

interface Dependencies {
  /** The file that adds to the environment, `.env`. */
  path: string
  /** Variables that were set before the file was read; they take precedence over it. */
  given: Environment
  /** The value of a variable that the running server uses. */
  running: (name: string) => string | undefined
  /** Every variable, with its default as text in the environment. */
  variables: readonly {
    name: string
    group: string
    meaning: string
    default: string | undefined
    choices: readonly string[]
    /** The accepted values, if they can be listed. */
    values: string
  }[]
  /** Former names of variables. */
  former: FormerNames
  /** What people call each variable, with the unit of its numbers. */
  labels: Readonly<Record<string, string | readonly [string, 'bytes' | 'seconds' | 'tokens']>>
  /** The variables that the agent configuration on disk refers to. */
  referred: () => Promise<readonly string[]>
  /** The mistakes that would keep a server with this environment from starting. */
  findMistakes: (environment: Record<string, string | undefined>) => readonly Issue[]
  /** Throws `SetupError` if a server with this environment, which has no mistakes, could not listen. */
  checkAddress: (environment: Environment) => Promise<void>
  /**
   * Throws an Error, for people, if the open store or this installation would refuse such a server. Another store is
   * left alone unless it is one of `changed`.
   */
  checkStart: (environment: Environment, changed: readonly string[]) => Promise<void>
}

/** Every variable that can be set, with its default; those of the agent configuration have no default. */
type Defaults = ReadonlyMap<string, string | undefined>
type Changes = Pick<SettingsPatch, 'set' | 'clear'>

/** The server's variables: read along with their source, and written to `.env`. */
export class SettingsService {
  readonly #parts: Dependencies
  readonly #file: ReturnType<typeof openEditedFile>
  readonly #view: EnvironmentView

  constructor(dependencies: Dependencies) {
    this.#parts = dependencies
    this.#file = openEditedFile(dependencies.path)
    this.#view = new EnvironmentView(dependencies)
  }

  async read(): Promise<Settings> {
    return this.#view.describe(await this.#file.read(), await this.#readDefaults())
  }

  /** Throws AppError `insufficient_scope` if only the master key may change one of these variables. */
  permit(caller: Caller, { set, clear, move = {} }: Changes & Partial<SettingsPatch>): void {
    if (isMaster(caller)) return
    const names = [...Object.keys(set), ...clear, ...Object.entries(move).flat()]
    const guarded = names.find((name) => !this.#isFree(name))
    if (guarded === undefined) return
    const message = `Only the SERVER_API_KEY may change ${guarded}: see docs/guides/keys.md`
    throw new AppError('insufficient_scope', message, { param: guarded })
  }

  /** The environment of a process that started now, whether a server could start with it or not. */
  async environment(): Promise<Environment> {
    const { text } = await this.#file.read()
    return { ...this.#parts.given, ...this.#view.environmentOf(text) }
  }

  /** The environment of a server with these changes. Throws AppError `invalid_request` for what it would refuse. */
  async preview(changes: Changes): Promise<Environment> {
    const { text } = await this.#file.read()
    return this.#apply(text, changes, await this.#readDefaults()).environment
  }

  /**
   * Throws AppError `invalid_request` with the variable's name, and what `change` of the file throws. Only the master
   * key may save what a start would refuse, as before documents are embedded anew: a process that ends by itself comes
   * back with what is in the file.
   */
  async save(patch: SettingsPatch, caller: Caller, signal: AbortSignal): Promise<SettingsSaved> {
    const defaults = await this.#readDefaults()
    const edit: Edit<SettingsSaved> = async ({ text }, replace) => {
      const before = this.#view.environmentOf(text)
      const { edited, environment } = this.#apply(text, withMoves(patch, before), defaults)
      const changed = [...defaults.keys()].filter((name) => before[name] !== environment[name])
      const next = { ...this.#parts.given, ...environment }
      await this.#checkAddress(changed, next)
      if (!isMaster(caller)) await this.#checkStart(changed, next)
      return { changed, settings: this.#view.describe(await replace(edited), defaults) }
    }
    return this.#file.change(patch.basedOn, edit, signal)
  }

  async #checkAddress(changed: readonly string[], environment: Environment): Promise<void> {
    const name = changed.find((each) => each === 'PORT' || each === 'HOST')
    if (name === undefined) return
    try {
      await this.#parts.checkAddress(environment)
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      throw invalidRequest([{ field: `set.${name}`, message: error.message }], undefined)
    }
  }

  async #checkStart(changed: readonly string[], environment: Environment): Promise<void> {
    const [name] = changed
    if (name === undefined) return
    try {
      await this.#parts.checkStart(environment, changed)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw invalidRequest([{ field: `set.${name}`, message: error.message }], error)
    }
  }

  async #readDefaults(): Promise<Defaults> {
    const { variables, referred } = this.#parts
    const defaults = new Map(variables.map((variable) => [variable.name, variable.default]))
    for (const name of await referred()) {
      if (!defaults.has(name) && !OF_THE_SYSTEM.test(name)) defaults.set(name, undefined)
    }
    return defaults
  }

  #isFree(name: string): boolean {
    if (GUARDED.includes(name)) return false
    const isListed = () =>
      this.#parts.variables.some((each) => each.name === name && each.values !== '')
    return PLAIN_TEXT.test(name) || isListed()
  }

  #apply(text: string, changes: Changes, defaults: Defaults) {
    refuseNames(changes, defaults, this.#parts)
    const { set, clear } = changes
    // What is cleared, or set anew, must not come back from a line with its former name.
    const before = Object.entries(this.#parts.former).flatMap(([name, present]) =>
      clear.includes(present) || Object.hasOwn(set, present) ? [name] : [],
    )
    const cleared = [...clear, ...before].map((name): [string, undefined] => [name, undefined])
    const edited = editEnvironment(text, new Map([...Object.entries(set), ...cleared]), defaults)
    const environment = this.#view.environmentOf(edited)
    const mistakes = this.#parts.findMistakes(environment).map(({ field, message }) => ({
      field: Object.hasOwn(set, field) ? `set.${field}` : field,
      message,
    }))
    if (mistakes.length > 0) throw invalidRequest(mistakes, undefined)
    return { edited, environment }
  }
}

/** What the text of the file means together with the given environment. */
class EnvironmentView {
  readonly #parts: Dependencies
  readonly #variables: ReadonlyMap<string, Dependencies['variables'][number]>

  constructor(dependencies: Dependencies) {
    this.#parts = dependencies
    this.#variables = new Map(dependencies.variables.map((variable) => [variable.name, variable]))
  }

  /** The environment of a server that started now; an empty value counts as not set, as it does at start. */
  environmentOf(text: string): Record<string, string | undefined> {
    const { given, former } = this.#parts
    const written = parseEnv(text)
    const inFile = { ...written, ...presentVariables(written, former) }
    const names = new Set([...Object.keys(inFile), ...this.#variables.keys()])
    return Object.fromEntries(
      [...names].map((name) => [name, given[name] || inFile[name] || undefined]),
    )
  }

  describe({ text, digest }: FileContent, defaults: Defaults): Settings {
    const { path, given, findMistakes } = this.#parts
    const environment = this.environmentOf(text)
    return {
      path,
      digest,
      mistakes: [...findMistakes(environment)],
      settings: Array.from(defaults, ([name, initial]) =>
        this.#describeOne(name, initial, environment[name] ?? (given[name] || undefined)),
      ),
    }
  }

  #describeOne(name: string, initial: string | undefined, value: string | undefined) {
    const { given, running } = this.#parts
    // Values that are sent to other servers are mostly keys, and there is no telling which are not.
    const secret = !this.#variables.has(name) || isSecret(name, value)
    const ending = name !== MASTER_KEY && value && value.length >= MIN_SHOWN_LENGTH
    return {
      name,
      ...this.#wordsOf(name),
      secret,
      ...(initial !== undefined && { default: initial }),
      source: sourceOf(given[name], value),
      ...(!secret && { value: value ?? initial }),
      ...(secret && ending && { ending: value.slice(-SHOWN) }),
      restartRequired: (value ?? initial) !== (running(name) || initial),
    }
  }

  /** What people read about a variable. */
  #wordsOf(name: string) {
    const { group, meaning, choices } = this.#variables.get(name) ?? OF_AGENT
    const labelOrPair = this.#parts.labels[name] ?? name
    const [label, unit] = typeof labelOrPair === 'string' ? [labelOrPair, undefined] : labelOrPair
    const choiceList = choices.length > 0 && { choices: [...choices] }
    return { label, group, meaning, ...(unit && { unit }), ...choiceList }
  }
}

/** Turns moves into values to set and names to clear. Throws AppError `invalid_request` if one is not set. */
function withMoves(
  { set, clear, move }: Pick<SettingsPatch, 'set' | 'clear' | 'move'>,
  environment: Record<string, string | undefined>,
): Changes {
  const values = Object.entries(move).map(([from, to]) => {
    const value = environment[from]
    if (value !== undefined) return [to, value] as const
    throw refusal(`move.${from}`, 'is not set')
  })
  return { set: { ...set, ...Object.fromEntries(values) }, clear: [...clear, ...Object.keys(move)] }
}

/** Throws AppError `invalid_request` for what cannot be changed here, or not to this value. */
function refuseNames(
  { set, clear }: Changes,
  defaults: Defaults,
  { given, path }: Dependencies,
): void {
  const refusalOf = (name: string, value: string | undefined) => {
    if (!defaults.has(name))
      return `${name} is not a variable of this server or its agent configuration`
    if (given[name]) {
      return `${name} is set by the environment, which takes precedence over ${path}: change it there`
    }
    if (value === undefined) return name in set ? `${name} is also in \`set\`` : undefined
    return refusalOfValue(value)
  }
  const changes = [
    ...Object.entries(set).map(([name, value]) => ({ name, field: `set.${name}`, value })),
    ...clear.map((name, n) => ({ name, field: `clear.${n}`, value: undefined })),
  ]
  const mistakes = changes.flatMap(({ name, field, value }) => {
    const message = refusalOf(name, value)
    return message ? [{ field, message }] : []
  })
  if (mistakes.length > 0) throw invalidRequest(mistakes, undefined)
}

const OF_AGENT = {
  choices: [],
  group: 'Agent configuration',
  meaning: 'Used in the agent configuration for an MCP connection.',
}

function refusalOfValue(value: string): string | undefined {
  if (value === '') return 'must not be empty; use `clear` instead'
  return /\p{Cc}/u.test(value) ? 'must not contain control characters' : undefined
}

function sourceOf(given: string | undefined, value: string | undefined) {
  if (given) return 'environment' as const
  return value === undefined ? ('default' as const) : ('file' as const)
}
