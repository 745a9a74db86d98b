/** Flags of an envelope: the last one of a stream, which says how it ended. */
const END_OF_STREAM = 2
const HEAD_BYTES = 5
/** A message holds at most one read of a pipe. */
const MAXIMUM_MESSAGE = 8 * 1_024 * 1_024

/** One message in the envelope of the Connect protocol: flags, length, JSON. */
export function encodeEnvelope(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** The messages of a stream until its end; throws where it ends with an error, or too early. */
export async function* decodeEnvelopes(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let held = Buffer.alloc(0)
  for await (const chunk of body) {
    held = Buffer.concat([held, chunk])
    for (let length = lengthOf(held); length <= held.length; length = lengthOf(held)) {
      const message: unknown = JSON.parse(held.subarray(HEAD_BYTES, length).toString())
      const isLast = ((held[0] ?? 0) & END_OF_STREAM) !== 0
      held = held.subarray(length)
      if (!isLast) {
        yield message
        continue
      }
      if (typeof message === 'object' && message !== null && 'error' in message) {
        throw new Error('The daemon ended the stream with an error')
      }
      return
    }
  }
  throw new Error('The stream of the daemon broke off')
}

/** Bytes of the envelope that begins here; more than there can be where its head is not there yet. */
function lengthOf(held: Buffer): number {
  if (held.length < HEAD_BYTES) return Number.POSITIVE_INFINITY
  const length = held.readUInt32BE(1)
  if (length > MAXIMUM_MESSAGE) throw new Error('A message of the daemon is too long')
  return HEAD_BYTES + length
}
