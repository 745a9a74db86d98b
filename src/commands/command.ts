import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { ProgressTarget } from './progress-bar.ts'

export interface CommandContext {
  /** What stands after the command's name. */
  parameters: readonly string[]
  environment: NodeJS.ProcessEnv
  /** Throws `ConfigError`, so commands that need no whole configuration do not ask. */
  config(): Config
  createLog(config: Config): FastifyBaseLogger
  /** For progress and words to whoever runs it. */
  stderr: ProgressTarget
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal
}

/** Something that the program does instead of serving; answers the code to exit with. */
export type Command = (context: CommandContext) => Promise<number>

/** The options of a command and what stands beside them. Throws an Error, in words, for an option that there is not. */
export function parseParameters<Options extends ParseArgsConfig['options']>(
  parameters: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...parameters], options, allowPositionals: true })
  } catch (error) {
    throw error instanceof TypeError ? new Error(error.message) : error
  }
}
