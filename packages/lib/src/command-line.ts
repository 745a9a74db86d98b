import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The options and positional arguments of a command. Throws a plain Error for an unknown option. */
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
