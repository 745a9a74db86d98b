import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { AgentServer, AgentServerOptions } from '../agent-server.ts'
import type { Terminal } from './terminal.ts'

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
  try {
    const all = { ...COMMON, ...options }
    return parseArgs({ args: [...parameters], options: all, allowPositionals: true })
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
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
export function readFilter(pairs: readonly string[] = []) {
  if (pairs.length === 0) return undefined
  const and = pairs.map((pair) => {
    const [field, value] = readPair('filter', pair)
    return { field, in: guesses(value) }
  })
  return { and }
}

const MODES = ['hybrid', 'lexical', 'dense'] as const

/** Parses the search mode; undefined if none is given. Throws `UsageError`. */
export function readMode(value: string | undefined) {
  const mode = MODES.find((one) => one === value)
  if (mode === undefined && value !== undefined) {
    throw new UsageError(`--mode must be one of ${MODES.join(', ')}`)
  }
  return mode
}

/** Metadata distinguishes `2026` from `"2026"`, a command line does not: either may be meant. */
function guesses(value: string): Scalar[] {
  if (value === 'true' || value === 'false') return [value, value === 'true']
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? [value, number] : [value]
}

/** Parses a name and a value separated by `=`. Throws `UsageError`. */
export function readPair(option: string, pair: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--${option} must be a name and a value, such as language=en, not ${pair}`)
  }
  return [name, value]
}
