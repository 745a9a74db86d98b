/** Variables of which every value is secret. */
const SECRET_NAME = /_(?:KEY|SECRET)(?:_NEXT)?$|^(?:DATABASE|WEBHOOK)_URL$/
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

export type Environment = Readonly<Record<string, string | undefined>>

/** Names the variable, never its value. */
export class MissingVariable extends Error {
  override readonly name = 'MissingVariable'

  constructor(variable: string) {
    super(`The variable ${variable} is not set`)
  }
}

/** The key to everything is sent to nobody, whatever a configuration says. */
const NEVER_SENT = 'SERVER_API_KEY'

/** `${NAME}` and `${NAME:-default}` replaced from the environment, where empty counts as not set. Throws `MissingVariable`. */
export function expandVariables(text: string, environment: Environment): string {
  return text.replaceAll(REFERENCE, (_reference, name: string, otherwise?: string) => {
    const value = (name !== NEVER_SENT && environment[name]) || otherwise
    if (value === undefined) throw new MissingVariable(name)
    return value
  })
}

/** Whether what the text says is in a variable, at least in part. */
export function namesVariable(text: string): boolean {
  return text.search(REFERENCE) !== -1
}

/** The text with something harmless for each variable, to see whether the rest makes sense. */
export function withoutVariables(text: string): string {
  return text.replaceAll(REFERENCE, 'x')
}

/** The names of the variables that a text refers to. */
export function variablesIn(text: string): string[] {
  return Array.from(text.matchAll(REFERENCE), ([, name = '']) => name)
}

/** Whether nobody is to see the value: by the variable's name, or because it is a URL with a user, a password or parameters. */
export function isSecret(name: string, value = ''): boolean {
  const { username = '', password = '', search = '' } = URL.parse(value) ?? {}
  return SECRET_NAME.test(name) || `${username}${password}${search}` !== ''
}
