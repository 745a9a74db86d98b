import { parseJson } from '../../lib/text/json.ts'

export type JsonObject = Record<string, unknown>

/** True for a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object, or an empty one when it is something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The string, or nothing when it is empty or something else. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text))
}
