import { isObject, type JsonObject, objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import { inSpan } from '@agent-server/lib/tracing.ts'
import { toUnit } from '@agent-server/lib/unit-vector.ts'
import {
  askJson,
  type ModelServer,
  readAnswerText,
  spanAttributes,
} from '../upstream/connection.ts'
import {
  type FailureFacts,
  failureInStream,
  UpstreamFailure,
  unreadable,
} from '../upstream/failures.ts'

/** Deadline of one request. */
const DEADLINE_MS = 60_000
/** Ten times the size of a batch of 32 vectors of dimension 4,096. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20

export interface EmbeddingServer extends ModelServer {
  model: string
}

/** Sends one request, without retries; returns a unit vector per text. Throws UpstreamFailure or the abort reason. */
export async function requestEmbeddings(
  server: EmbeddingServer,
  texts: string[],
  signal: AbortSignal,
): Promise<Vector[]> {
  const { model, baseUrl } = server
  const attributes = spanAttributes('embeddings', { model, baseUrl })
  const body = { model, input: texts, encoding_format: 'float' }
  const send = (stop: AbortSignal) => askJson(server, '/embeddings', body, stop)
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  const ask = () => readAnswerText(send, bounds, signal)
  const answer = await inSpan(`embeddings ${model}`, { attributes, isRemote: true }, ask)
  return readEmbeddings(answer, texts.length)
}

/** Whether a text, and not the server, may be at fault: some servers answer some texts with status 500. */
export function mayBeOfText({ kind, status = 0, code }: FailureFacts): boolean {
  return code === UNUSABLE_VECTOR || (kind === 'status' && [400, 413, 422, 500].includes(status))
}

/** Four times the highest dimension of any known model. */
const MAX_DIMENSION = 16_384

/** Matches what some servers write for overflowed numbers, which is not valid JSON. */
const NOT_JSON_NUMBER = /[[,]\s*-?(?:NaN|Infinity)\b/
/** Code of a failure for which a text, not the server, is probably at fault. */
export const UNUSABLE_VECTOR = 'unusable_vector'

export type Vector = Float32Array<ArrayBuffer>

/** Reads the unit vectors, in the order of the texts. Throws UpstreamFailure unless there are `count` valid ones. */
function readEmbeddings(body: string, count: number): Vector[] {
  const answer = parseJson(body)
  if (!isObject(answer)) throw NOT_JSON_NUMBER.test(body) ? unusable() : unreadable('not JSON')
  if (answer.error !== undefined) throw failureInStream(answer.error)
  if (!Array.isArray(answer.data) || answer.data.length !== count) {
    throw unreadable(`${count} texts were not answered with ${count} vectors`)
  }
  const entries = answer.data.map(objectOf)
  const vectors = entries.map((_, position) => readVector(findEntry(entries, position).embedding))
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) {
    throw unreadable('the vectors differ in length')
  }
  return vectors
}

/** The entry for the text at `position`: some servers omit the index but keep the order. */
function findEntry(entries: readonly JsonObject[], position: number): JsonObject {
  const inPlace = entries[position]
  if (inPlace && (inPlace.index === undefined || inPlace.index === position)) return inPlace
  const entry = entries.find(({ index }) => index === position)
  if (!entry) throw unreadable('a text has no vector')
  return entry
}

function readVector(embedding: unknown): Vector {
  if (!Array.isArray(embedding) || embedding.length > MAX_DIMENSION) {
    throw unreadable('a vector is missing or too long')
  }
  for (const value of embedding) if (typeof value !== 'number') throw unusable()
  const unit = toUnit(embedding)
  if (!unit) throw unusable()
  return unit
}

function unusable(): UpstreamFailure {
  const rawMessage = 'a vector is zero or holds something that is not a number'
  return new UpstreamFailure({ kind: 'unreadable', code: UNUSABLE_VECTOR, rawMessage })
}
