import { type ParseArgsConfig, parseArgs } from 'node:util'
import {
  type AgentServer,
  type AgentServerOptions,
  AuthenticationError,
  type Pages,
} from '../agent-server.ts'
import { plain, type Terminal, table } from './terminal.ts'

/** Exit codes of the program; documented in docs/guides/clients.md. */
export const EXIT = {
  done: 0,
  /** The server refused, or a part of the work failed. */
  failed: 1,
  usage: 2,
  /** There is no server, or it does not respond. */
  unreachable: 3,
  /** There is no key, or it was refused. */
  unauthorized: 4,
  /** As shells report a program that SIGINT ended. */
  interrupted: 130,
} as const

/** A command was called wrongly; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface CommandContext {
  /** The arguments after the command's name. */
  parameters: readonly string[]
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal
  /** Creates a client for the server named by options, environment or login. Throws `LoginError` if there is none. */
  connect(url: string | undefined, options?: AgentServerOptions): Promise<AgentServer>
}

export interface Command {
  /** One line for the list of commands. */
  summary: string
  /** Its usage, with options and examples. */
  help: string
  /** Words that may follow, besides options, for completion. */
  words?: readonly string[]
  options: NonNullable<ParseArgsConfig['options']>
  /** Resolves with the exit code. */
  run(context: CommandContext): Promise<number>
}

/** The options of every command. */
export const COMMON = {
  json: { type: 'boolean' },
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Parses a command's options and words. Throws `UsageError`. */
export function readParameters<Options extends NonNullable<ParseArgsConfig['options']>>(
  { parameters }: Pick<CommandContext, 'parameters'>,
  options: Options,
) {
  const all = { ...COMMON, ...options }
  try {
    return parseArgs({ args: [...parameters], options: all, allowPositionals: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const [unknown, name = ''] = /^Unknown option '--([^']+)'/.exec(error.message) ?? []
    const closestName = closest(name, Object.keys(all))
    throw new UsageError(closestName ? `${unknown}: did you mean --${closestName}?` : error.message)
  }
}

/** Letters that may be wrong in a word. */
const MAX_WRONG = 2

/** The word that was probably meant: one that begins so, or has a letter or two that differ. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const given = word.toLowerCase()
  const longer = given.length > 2 && words.find((each) => each.startsWith(given))
  if (longer) return longer
  const near = words
    .map((each) => ({ each, wrong: distance(given, each) }))
    .filter(({ each, wrong }) => wrong <= MAX_WRONG && wrong < each.length / 2)
  return near.toSorted((a, b) => a.wrong - b.wrong)[0]?.each
}

/** How many letters must be added, taken out or replaced. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** What to do of a command that can do several things. Throws `UsageError`. */
export function readAction<Action>(
  command: string,
  name: string | undefined,
  actions: ReadonlyMap<string, Action>,
): Action {
  const action = actions.get(name ?? '')
  if (action) return action
  const closestName = name && closest(name, [...actions.keys()])
  const hint = closestName ? `: did you mean ${closestName}?` : ''
  throw new UsageError(`${command} takes ${[...actions.keys()].join(', ')}${hint}`)
}

/** One of several words; undefined if none is given. Throws `UsageError`. */
export function readChoice<Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((each) => each === value)
  if (choice !== undefined || value === undefined) return choice
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
}

/** Parses a whole number within bounds; undefined if none is given. Throws `UsageError`. */
export function readNumber(
  name: string,
  value: string | undefined,
  { min, max }: { min: number; max: number },
): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (value.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) {
    return number
  }
  throw new UsageError(`--${name} must be a number from ${min} to ${max}`)
}

type Scalar = string | number | boolean

/** Parses `name=value` pairs to a filter that requires all of them. Throws `UsageError`. */
function readFilter(pairs: readonly string[] = []) {
  if (pairs.length === 0) return undefined
  const and = pairs.map((pair) => {
    const [field, value] = readPair('filter', pair)
    return { field, in: guesses(value) }
  })
  return { and }
}

/** The search options of `query` and `chat`. */
export const SEARCH_OPTIONS = {
  'top-k': { type: 'string' },
  mode: { type: 'string' },
  effort: { type: 'string' },
  filter: { type: 'string', multiple: true },
  collection: { type: 'string' },
} as const

interface SearchValues {
  'top-k'?: string
  mode?: string
  effort?: string
  filter?: string[]
  collection?: string
}

/** The fields of a request that search options stand for. Throws `UsageError`. */
export function readSearch({ collection, ...values }: SearchValues) {
  const topK = readNumber('top-k', values['top-k'], { min: 1, max: 100 })
  const mode = readChoice('mode', values.mode, ['hybrid', 'lexical', 'dense'])
  const effort = readChoice('effort', values.effort, ['low', 'medium', 'high'])
  const filter = readFilter(values.filter)
  return {
    ...(topK && { topK }),
    ...(mode && { mode }),
    ...(effort && { effort }),
    ...(filter && { filter }),
    ...(collection && { collection }),
  }
}

/** Documents may have been sent `2026` as a number or as a text: either may be meant. */
function guesses(value: string): Scalar[] {
  if (value === 'true' || value === 'false') return [value, value === 'true']
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? [value, number] : [value]
}

/** A number or a boolean if it is written as one, such as `2026` or `true`; `"2026"`, `007` and `1.10` are texts. */
export function readScalar(value: string): Scalar {
  if (/^".*"$/s.test(value)) return value.slice(1, -1)
  if (value === 'true' || value === 'false') return value === 'true'
  const number = Number(value)
  return Number.isFinite(number) && String(number) === value ? number : value
}

/** Works on one thing after another; failures are reported, and do not stop the rest. */
export async function each(
  ids: readonly string[],
  done: string,
  { terminal, signal }: Pick<CommandContext, 'terminal' | 'signal'>,
  work: (id: string) => PromiseLike<unknown>,
): Promise<number> {
  let code: number = EXIT.done
  for (const id of ids) {
    try {
      await work(id)
      if (terminal.json) terminal.printJson({ id, ok: true })
      else terminal.print(`${id} ${done}`)
    } catch (error) {
      // A wrong key, or an error without a code, would meet the others, too.
      const isOfOne =
        error instanceof Error &&
        'code' in error &&
        error.code &&
        !(error instanceof AuthenticationError)
      if (signal.aborted || !isOfOne) throw error
      code = EXIT.failed
      const failure = { code: error.code, message: error.message }
      if (terminal.json) terminal.printJson({ id, ok: false, error: failure })
      else terminal.note(`${id}: ${plain(error.message)}`)
    }
  }
  return code
}

type ToRow<Item> = (item: Item) => readonly string[]

/** Prints a table, or each as JSON. */
export function printItems<Item extends object>(
  items: readonly Item[],
  toRow: ToRow<Item>,
  { terminal }: Pick<CommandContext, 'terminal'>,
): void {
  if (terminal.json) for (const item of items) terminal.printJson(item)
  else for (const line of table(items.map(toRow))) terminal.print(line)
}

/** Prints a list page by page, up to a number of items. */
export async function printPages<Item extends object>(
  list: Pick<Pages<Item>, 'pages'>,
  toRow: ToRow<Item>,
  context: Pick<CommandContext, 'terminal'>,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  let remaining = limit
  for await (const { items } of list.pages()) {
    const page = items.slice(0, remaining)
    printItems(page, toRow, context)
    remaining -= page.length
    if (remaining <= 0) break
  }
  return EXIT.done
}

/** Parses a name and a value separated by `=`. Throws `UsageError`. */
export function readPair(option: string, pair: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--${option} must be a name and a value, such as language=en, not ${pair}`)
  }
  return [name, value]
}
