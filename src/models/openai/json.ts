import { parseJson } from '../../lib/text/json.ts'

export type JsonObject = Record<string, unknown>

/** True for a JSON object, but not for null or an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The value if it is a non-empty string, otherwise undefined. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text))
}
