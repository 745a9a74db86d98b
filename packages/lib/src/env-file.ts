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

/** A value without quotes up to a `#` within a word. */
const CUT =
  /^[^\S\n]*(?:export\s+)?(?<name>[\w.-]+)[^\S\n]*=[^\S\n]*(?<value>(?=[^\s"'`#])[^#\n]*(?<=\S))#/gm

/**
 * The variables of a file whose values end at a `#` within a word, where Docker Compose reads on, unless the environment
 * has another value for them.
 */
export function cutVariables(path: string, environment: NodeJS.ProcessEnv): string[] {
  try {
    const text = writtenText(readFileSync(path))
    const parsed = parseEnv(text)
    return Array.from(text.matchAll(CUT), ({ groups }) => groups ?? {}).flatMap(
      ({ name = '', value }) =>
        parsed[name] === value && (environment[name] ?? value) === value ? [name] : [],
    )
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
