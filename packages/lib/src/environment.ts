/** The value of a header with a matching name counts as a secret. */
export const SECRET_HEADER = /auth|cookie|credential|key|password|secret|token/i

/** Names of variables whose values are always secret. */
const SECRET_NAME = /_(?:KEY|SECRET)(?:_NEXT)?$|^(?:DATABASE|WEBHOOK)_URL$/
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

export type Environment = Readonly<Record<string, string | undefined>>

/** The message names the variable, never a value. */
export class MissingVariable extends Error {
  override readonly name = 'MissingVariable'

  constructor(variable: string) {
    super(`The variable ${variable} is not set`)
  }
}

/** The master key is never sent to anyone, whatever a configuration says. */
const NEVER_SENT = 'SERVER_API_KEY'

/**
 * Replaces `${NAME}` and `${NAME:-default}` from the environment, where empty counts as not set.
 * Throws `MissingVariable`.
 */
export function expandVariables(text: string, environment: Environment): string {
  return text.replaceAll(REFERENCE, (_reference, name: string, otherwise?: string) => {
    const value = (name !== NEVER_SENT && environment[name]) || otherwise
    if (value === undefined) throw new MissingVariable(name)
    return value
  })
}

export function namesVariable(text: string): boolean {
  return text.search(REFERENCE) !== -1
}

/** The text with a placeholder for each variable, to check the rest of it. */
export function withoutVariables(text: string): string {
  return text.replaceAll(REFERENCE, 'x')
}

/** The names of the variables that a text refers to. */
export function variablesIn(text: string): string[] {
  return Array.from(text.matchAll(REFERENCE), ([, name = '']) => name)
}

/** Whether a value must not be shown: by the variable's name, or because it is a URL with credentials or a query. */
export function isSecret(name: string, value = ''): boolean {
  const { username = '', password = '', search = '' } = URL.parse(value) ?? {}
  return SECRET_NAME.test(name) || `${username}${password}${search}` !== ''
}

/** Shorter values may be words that occur anywhere. */
const MIN_SECRET_CHARACTERS = 8

/**
 * The values that must not be shown, of the server's variables by their names and of all that a configuration refers
 * to; the longest first, as one may contain another.
 */
export function secretsIn(
  environment: Environment,
  names: readonly string[],
  referred: readonly string[],
): string[] {
  const secret = names.filter((name) => isSecret(name, environment[name]))
  const values = [...secret, ...referred].map((name) => environment[name] ?? '')
  const long = values.filter(({ length }) => length >= MIN_SECRET_CHARACTERS)
  return [...new Set(long)].toSorted((a, b) => b.length - a.length)
}
