import { isDeepStrictEqual, parseEnv } from 'node:util'
import { type Environment, isSecret } from '../../lib/environment.ts'
import { type Issue, invalidRequest, refusal } from '../../schemas/invalid-request.ts'
import type { Settings, SettingsPatch, SettingsSaved } from '../../schemas/operator/admin.ts'
import { type FileContent, openEditedFile } from './edited-file.ts'

/** Variables that the system or the runtime itself reads: the agent configuration cannot make them settable here. */
const OF_THE_SYSTEM = /^(?:NODE|LD|DYLD|NPM)_|^(?:PATH|HOME|SHELL|ENV|BASH_ENV)$/i
/** Of a shorter secret, four characters would reveal too much. */
const MIN_SHOWN_LENGTH = 16
const SHOWN = 4

interface Dependencies {
  /** The file that adds to the environment, `.env`. */
  path: string
  /** Variables that were set before the file was read; they take precedence over it. */
  given: Environment
  /** What the running server was started with. */
  running: Environment
  /** Every variable with its default, as text in the environment. */
  defaults: ReadonlyMap<string, string | undefined>
  /** The variables that the agent configuration on disk refers to. */
  referred: () => Promise<readonly string[]>
  /** The text of an example `.env` whose comments say what each variable means. */
  example: string
  /** The mistakes that would keep a server with this environment from starting. */
  findMistakes: (environment: Record<string, string | undefined>) => readonly Issue[]
}

/** Every variable that can be set, with its default; those of the agent configuration have no default. */
type Known = ReadonlyMap<string, string | undefined>
type Changes = Pick<SettingsPatch, 'set' | 'clear'>

export type SettingsService = ReturnType<typeof createSettings>

/** The server's variables: read along with their source, and written to `.env`. */
export function createSettings(dependencies: Dependencies) {
  const { path, given, defaults, referred, findMistakes } = dependencies
  const file = openEditedFile(path)
  const { environmentOf, describe } = createReader(dependencies)

  async function knownNow(): Promise<Known> {
    const isOther = (name: string) => !defaults.has(name) && !OF_THE_SYSTEM.test(name)
    const others = (await referred()).filter(isOther)
    return new Map([...defaults, ...others.map((name) => [name, undefined] as const)])
  }

  function apply(text: string, changes: Changes, known: Known) {
    refuseNames(changes, known, dependencies)
    const { set, clear } = changes
    const cleared = clear.map((name): [string, undefined] => [name, undefined])
    const edited = editEnvironment(text, new Map([...Object.entries(set), ...cleared]), known)
    const environment = environmentOf(edited)
    const mistakes = findMistakes(environment).map(({ field, message }) => ({
      field: Object.hasOwn(set, field) ? `set.${field}` : field,
      message,
    }))
    if (mistakes.length > 0) throw invalidRequest(mistakes, undefined)
    return { edited, environment }
  }

  return {
    read: async (): Promise<Settings> => describe(await file.read(), await knownNow()),

    /** The environment of a process that started now, whether a server could start with it or not. */
    environment: async () => ({ ...given, ...environmentOf((await file.read()).text) }),

    /** The environment of a server with these changes. Throws AppError `invalid_request` for what it would refuse. */
    async preview(changes: Changes) {
      return apply((await file.read()).text, changes, await knownNow()).environment
    },

    /** Throws AppError `invalid_request` with the variable's name, and what `change` of the file throws. */
    async save(patch: SettingsPatch, signal: AbortSignal): Promise<SettingsSaved> {
      let changed: string[] = []
      const known = await knownNow()
      const edit = ({ text }: FileContent) => {
        const before = environmentOf(text)
        const { edited, environment } = apply(text, withMoves(patch, before), known)
        changed = [...known.keys()].filter((name) => before[name] !== environment[name])
        return edited
      }
      const saved = await file.change(patch.basedOn, edit, signal)
      return { changed, settings: describe(saved, known) }
    },
  }
}

/** Interprets the text of the file together with the given environment. */
function createReader({ path, given, running, defaults, example, findMistakes }: Dependencies) {
  const descriptions = readDescriptions(example)

  /** The environment of a server that started now; an empty value counts as not set, as it does at start. */
  function environmentOf(text: string): Record<string, string | undefined> {
    const kept = parseEnv(text)
    const names = new Set([...Object.keys(kept), ...defaults.keys()])
    return Object.fromEntries(
      [...names].map((name) => [name, given[name] || kept[name] || undefined]),
    )
  }

  function describeOne(name: string, initial: string | undefined, value: string | undefined) {
    const isOwn = defaults.has(name)
    // Values that are sent to other servers are mostly keys, and there is no telling which are not.
    const secret = !isOwn || isSecret(name, value)
    return {
      ...{ name, secret, ...(initial !== undefined && { default: initial }) },
      ...((isOwn ? descriptions.get(name) : OF_AGENT) ?? { group: '', meaning: '' }),
      source: sourceOf(given[name], value),
      ...(!secret && { value: value ?? initial }),
      ...(secret && value && value.length >= MIN_SHOWN_LENGTH && { ending: value.slice(-SHOWN) }),
      restartRequired: (value ?? initial) !== (running[name] || initial),
    }
  }

  return {
    environmentOf,
    describe({ text, digest }: FileContent, known: Known): Settings {
      const environment = environmentOf(text)
      return {
        ...{ path, digest, mistakes: [...findMistakes(environment)] },
        settings: Array.from(known, ([name, initial]) =>
          describeOne(name, initial, environment[name] ?? (given[name] || undefined)),
        ),
      }
    },
  }
}

/** Turns moves into values to set and names to clear. Throws AppError `invalid_request` if one is not set. */
function withMoves(
  { set, clear, move }: Pick<SettingsPatch, 'set' | 'clear' | 'move'>,
  environment: Record<string, string | undefined>,
): Changes {
  const moved = Object.entries(move).map(([from, to]) => {
    const value = environment[from]
    if (value !== undefined) return [to, value] as const
    throw refusal(`move.${from}`, 'is not set')
  })
  return { set: { ...set, ...Object.fromEntries(moved) }, clear: [...clear, ...Object.keys(move)] }
}

/** Throws AppError `invalid_request` for what cannot be changed here, or not to this value. */
function refuseNames({ set, clear }: Changes, known: Known, { given, path }: Dependencies): void {
  const refusalOf = (name: string, value: string | undefined) => {
    if (!known.has(name)) return `${name} is no variable of this server or its agent configuration`
    if (given[name]) {
      return `${name} is set by the environment, which wins over ${path}: change it there`
    }
    if (value === undefined) return name in set ? `${name} is in \`set\`, too` : undefined
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
  group: 'Agent configuration',
  meaning: 'The agent configuration refers to it for an MCP connection.',
}

function refusalOfValue(value: string): string | undefined {
  if (value === '') return 'must not be empty: name it in `clear` instead'
  return /\p{Cc}/u.test(value) ? 'must not hold control characters' : undefined
}

function sourceOf(given: string | undefined, value: string | undefined) {
  if (given) return 'environment' as const
  return value === undefined ? ('default' as const) : ('file' as const)
}

/** Reads the meaning of each variable from an example: the comments directly above it, and the heading of its group. */
function readDescriptions(example: string) {
  const descriptions = new Map<string, { group: string; meaning: string }>()
  let group = ''
  let comments: string[] = []
  for (const line of example.split(/\r?\n/)) {
    const [, heading] = /^# --- (.*?):? -+$/.exec(line) ?? []
    const [, name] = /^#?([A-Z][A-Z0-9_]*)=/.exec(line) ?? []
    const [, comment] = /^# (.*)$/.exec(line) ?? []
    if (heading) group = heading.replace(/: see .*/, '')
    else if (name) descriptions.set(name, { group, meaning: comments.join(' ') })
    if (comment && !heading) comments.push(comment)
    else comments = []
  }
  return descriptions
}

/**
 * Returns the text of a `.env` with variables set, or cleared where the value is undefined: each on its line, or on the
 * line where it was commented out, or at the end. Throws AppError `invalid_request` for what such a file cannot hold.
 */
function editEnvironment(
  text: string,
  changes: ReadonlyMap<string, string | undefined>,
  defaults: ReadonlyMap<string, string | undefined>,
): string {
  let edited = text
  const expected = { ...parseEnv(text) }
  for (const [name, value] of changes) {
    edited =
      value === undefined
        ? edited.replaceAll(lineOf(name, 'gm'), `#${name}=${defaults.get(name) ?? ''}`)
        : setLine(edited, name, `${name}=${quote(value)}`)
    if (value === undefined) delete expected[name]
    else expected[name] = value
    // Checks that nothing else has changed, even in a file with multi-line values.
    const found = parseEnv(edited)
    if (isDeepStrictEqual({ ...found }, expected)) continue
    const message = 'cannot be written into this file: edit it by hand'
    throw refusal(value === undefined ? name : `set.${name}`, message)
  }
  return edited
}

function lineOf(name: string, flags: string, before = ''): RegExp {
  return new RegExp(`^${before}[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*$`, flags)
}

function setLine(text: string, name: string, line: string): string {
  const lines = [...text.matchAll(lineOf(name, 'gm'))]
  const place = lines.at(-1) ?? lineOf(name, 'm', '#[ \\t]*').exec(text)
  // If a file names a variable twice, the last one counts.
  if (place) return text.slice(0, place.index) + line + text.slice(place.index + place[0].length)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return `${text}${text === '' || text.endsWith('\n') ? '' : end}${line}${end}`
}

/** Unquoted where that is safe, else in a quotation mark that does not occur in the value. */
function quote(value: string): string {
  if (/^[\w./:@%+,=*?&~!;()[\]{}<>|^$-]+$/.test(value)) return value
  const mark = ["'", '`', '"'].find((one) => !value.includes(one)) ?? "'"
  return `${mark}${value}${mark}`
}
