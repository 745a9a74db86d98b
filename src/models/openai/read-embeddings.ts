import { isObject, type JsonObject, objectOf, parseJson } from './json-value.ts'
import { failureInStream, UpstreamFailure } from './upstream-failure.ts'

/** The longest vector that any known model makes is a fourth of this. */
const LONGEST_VECTOR = 16_384

/** What some servers write for a number that overflowed, which is not JSON. */
const NOT_JSON_NUMBER = /[[,]\s*-?(?:NaN|Infinity)\b/
/** The failure's code where a text, and not the server, is likely to be at fault. */
export const UNUSABLE_VECTOR = 'unusable_vector'

type Vector = Float32Array<ArrayBuffer>

/** The unit vectors of an answer, in the order of the texts. Throws UpstreamFailure for anything but `count` good ones. */
export function readEmbeddings(body: string, count: number): Vector[] {
  const answer = parseJson(body)
  if (!isObject(answer)) throw NOT_JSON_NUMBER.test(body) ? unusable() : unreadable('not JSON')
  if (answer.error !== undefined) throw failureInStream(answer.error)
  if (!Array.isArray(answer.data) || answer.data.length !== count) {
    throw unreadable(`${count} texts were not answered with ${count} vectors`)
  }
  const entries = answer.data.map(objectOf)
  const vectors = entries.map((_, position) => toUnit(findEntry(entries, position).embedding))
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) {
    throw unreadable('the vectors differ in length')
  }
  return vectors
}

/** The entry for the text at `position`: some servers leave the index out, and keep the order. */
function findEntry(entries: readonly JsonObject[], position: number): JsonObject {
  const inPlace = entries[position]
  if (inPlace && (inPlace.index === undefined || inPlace.index === position)) return inPlace
  const found = entries.find(({ index }) => index === position)
  if (!found) throw unreadable('a text has no vector')
  return found
}

function toUnit(embedding: unknown): Vector {
  if (!Array.isArray(embedding) || embedding.length > LONGEST_VECTOR) {
    throw unreadable('a vector is missing or too long')
  }
  if (!embedding.every((value) => typeof value === 'number' && Number.isFinite(value))) {
    throw unusable()
  }
  const numbers = Float64Array.from<number>(embedding)
  const norm = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0))
  if (!(norm > 0 && Number.isFinite(norm))) throw unusable()
  return Float32Array.from(numbers, (value) => value / norm)
}

function unusable(): UpstreamFailure {
  const words = 'a vector is zero or holds something that is not a number'
  return new UpstreamFailure({ kind: 'unreadable', code: UNUSABLE_VECTOR, words })
}

function unreadable(words: string): UpstreamFailure {
  return new UpstreamFailure({ kind: 'unreadable', words })
}
