import { messageOf } from '../system-error.ts'

/** The parsed value; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type JsonObject = Record<string, unknown>

/** True for a JSON object, but not for null or an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text))
}

/** A place in a text: lines and columns from 1, as editors count them. */
interface TextPlace {
  line: number
  column: number
}

/** The place of the first syntax error in a text that is not JSON: engines name it only in some messages. */
export function placeOfJsonMistake(text: string): TextPlace {
  // Binary search: a prefix is good if only its end is missing; beyond the error, none is.
  let [good, bad] = [0, text.length + 1]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (endsTooEarly(text.slice(0, middle))) good = middle
    else bad = middle
  }
  const lines = text.slice(0, good).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

function endsTooEarly(start: string): boolean {
  try {
    JSON.parse(start)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return position === undefined
      ? /end of JSON/.test(message)
      : Number(position) >= start.length || /^Unterminated/.test(message)
  }
}

/** The engine's description of the error, without the text and the place. */
export function reasonOfJsonMistake(error: unknown): string {
  const message = messageOf(error)
  return message
    .replace(/(?: in JSON)? at position .*$|, (?:\.\.\.)?".*$/s, '')
    .replace(/ in JSON$/, '')
}

/** Levels of nesting: what validates and serialises deeper values takes long, or overflows the stack. */
const MAX_DEPTH = 100
/** Twice those of the largest batch: a thousand documents with all their fields. */
const MAX_VALUES = 100_000
/** Fields of one object: a strict schema would write a message about each. */
const MAX_FIELDS = 5_000

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Why JSON from a client is not worth parsing, in words that follow "it"; undefined if it is. Bytes that are not JSON
 * are left to the parser.
 */
export function whyTooComplex(bytes: Uint8Array, maxValues = MAX_VALUES): string | undefined {
  const { open, close, next } = createLevels(maxValues)
  let reason: string | undefined
  for (let at = 0; at < bytes.length && reason === undefined; at += 1) {
    switch (bytes[at] ?? 0) {
      case QUOTE:
        at = endOfString(bytes, at)
        break
      case COMMA:
        reason = next()
        break
      case OPEN_OBJECT:
        reason = open(MAX_FIELDS)
        break
      case OPEN_LIST:
        reason = open(maxValues)
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        close()
        break
      default:
      // White space, or part of a number or a word.
    }
  }
  return reason
}

/** Counts levels, their values, and all values. What adds to them returns what there is too much of. */
function createLevels(maxValues: number) {
  const room = new Float64Array(MAX_DEPTH + 1)
  let depth = 0
  let values = 1

  const count = () => {
    values += 1
    return values > maxValues ? `must not contain more than ${maxValues} values` : undefined
  }
  return {
    open(most: number): string | undefined {
      depth += 1
      if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`
      room[depth] = most
      return count()
    },
    next(): string | undefined {
      const remaining = (room[depth] ?? 0) - 1
      room[depth] = remaining
      return remaining === 0
        ? `must not contain an object of more than ${MAX_FIELDS} fields`
        : count()
    },
    close() {
      depth = Math.max(0, depth - 1)
    },
  }
}

/** The position of the quotation mark that ends the string which begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
