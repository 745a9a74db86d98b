import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { isMissing } from './files.ts'
import { writtenText } from './text/written-text.ts'

/** Adds the variables of a file, if it exists, to the environment; those that are set already stay. */
export function loadEnvFile(path: string, environment: NodeJS.ProcessEnv): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(writtenText(readFileSync(path))))) {
      environment[name] ??= value
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
