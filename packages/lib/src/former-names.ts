import type { Environment } from './environment.ts'

/** Names that keep working, each with the one that replaced it. */
export type FormerNames = Readonly<Record<string, string>>

/** The notice that is logged once for a former name in use. */
export const renamedTo = (name: string) =>
  `is called ${name} now: the former name still works, but not for ever`

/** The values of variables with former names, by their present names, unless these are set. */
export function presentVariables(
  environment: Environment,
  former: FormerNames,
): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, present] of Object.entries(former)) {
    const value = environment[name]
    if (value && !environment[present]) values[present] = value
  }
  return values
}

/**
 * JSON with the present names of fields: each former one is a path, such as `agents.*.limits.rounds`, with the name that
 * replaced its last part. Of two fields, the one with the present name counts. Notes the former names that it finds.
 */
export function withPresentFields(value: unknown, former: FormerNames, used: string[]): unknown {
  return Object.entries(former).reduce((result, [path, present]) => {
    let isUsed = false
    const changed = renamed(result, path.split('.'), present, () => {
      isUsed = true
    })
    if (isUsed) used.push(path)
    return changed
  }, value)
}

function renamed(
  value: unknown,
  [name = '', ...rest]: readonly string[],
  present: string,
  onUse: () => void,
): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap<[string, unknown]>(([key, child]) => {
    if (key !== name && name !== '*') return [[key, child]]
    if (rest.length > 0) return [[key, renamed(child, rest, present, onUse)]]
    onUse()
    return Object.hasOwn(value, present) ? [] : [[present, child]]
  })
  return Object.fromEntries(entries)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
