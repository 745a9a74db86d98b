import {
  type Environment,
  isSecret,
  SECRET_HEADER,
  secretsIn,
} from '@agent-server/lib/environment.ts'
import { presentName, VARIABLE_NAMES } from './config.ts'

/**
 * The values that no log shows: of the server's variables those that are secret, of others, as libraries read them, all
 * that may be.
 */
export function secretsInLog(environment: Environment): string[] {
  const others = Object.keys(environment).filter(
    (name) =>
      !VARIABLE_NAMES.includes(name) &&
      (SECRET_HEADER.test(name) ||
        /HEADERS/.test(name) ||
        isSecret(presentName(name), environment[name])),
  )
  return secretsIn(environment, [...VARIABLE_NAMES, ...others], others).flatMap((value) => [
    value,
    ...inUrl(value),
    ...inList(value),
  ])
}

/** The passwords and the queries in a URL, as they stand there and as they are sent. */
function inUrl(value: string): string[] {
  const { password = '', search = '', searchParams } = URL.parse(value) ?? {}
  return [password, ...decoded(password), search, ...(searchParams?.values() ?? [])]
}

/** The values of headers as OpenTelemetry takes them: `name=value,name=value`. */
function inList(value: string): string[] {
  return value.split(',').flatMap((entry) => decoded(entry.slice(entry.indexOf('=') + 1).trim()))
}

function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)]
  } catch {
    // It is not encoded.
    return [text]
  }
}
