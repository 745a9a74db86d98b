import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { AgentServer, AgentServerOptions } from '../agent-server.ts'
import type { Terminal } from './terminal.ts'

/** What the program ends with; documented in docs/clients.md. */
export const EXIT = {
  done: 0,
  /** The server refused, or some of what was asked for failed. */
  failed: 1,
  usage: 2,
  /** There is no server, or it does not answer. */
  unreachable: 3,
  /** There is no key, or it is refused. */
  unauthorized: 4,
  /** As shells end what SIGINT ended. */
  interrupted: 130,
} as const

/** How a command was called is wrong; the message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface CommandContext {
  /** What stands after the command's name. */
  parameters: readonly string[]
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal
  /** The client of the server that options, environment or login name. Throws `LoginError` where there is none. */
  connect(url: string | undefined, options?: AgentServerOptions): Promise<AgentServer>
}

export interface Command {
  /** One line, in the list of commands. */
  summary: string
  /** How it is called, with its options and examples. */
  help: string
  /** Words that may follow, and options, for completion. */
  words?: readonly string[]
  options: NonNullable<ParseArgsConfig['options']>
  /** Answers what to exit with. */
  run(context: CommandContext): Promise<number>
}

/** What every command takes. */
export const COMMON = {
  json: { type: 'boolean' },
  url: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Options and words as a command takes them. Throws `UsageError`. */
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

/** A whole number within bounds, undefined where none is given. Throws `UsageError`. */
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

/** `name=value` pairs as a filter that wants all of them. Throws `UsageError`. */
export function readFilter(pairs: readonly string[] = []) {
  if (pairs.length === 0) return undefined
  const and = pairs.map((pair) => {
    const [field, value] = readPair('filter', pair)
    return { field, in: guesses(value) }
  })
  return { and }
}

const MODES = ['hybrid', 'lexical', 'dense'] as const

/** What a search goes by, undefined where it is not given. Throws `UsageError`. */
export function readMode(value: string | undefined) {
  const mode = MODES.find((one) => one === value)
  if (mode === undefined && value !== undefined) {
    throw new UsageError(`--mode must be one of ${MODES.join(', ')}`)
  }
  return mode
}

/** Metadata tells `2026` from `"2026"`, a command line does not: either is meant. */
function guesses(value: string): Scalar[] {
  if (value === 'true' || value === 'false') return [value, value === 'true']
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? [value, number] : [value]
}

/** A name and a value with `=` between them. Throws `UsageError`. */
export function readPair(option: string, pair: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (name === undefined || value === undefined) {
    throw new UsageError(`--${option} must be a name and a value, such as language=en, not ${pair}`)
  }
  return [name, value]
}
