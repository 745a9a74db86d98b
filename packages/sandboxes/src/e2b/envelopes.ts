import { z } from 'zod'

const Failure = z.object({ error: z.object({}) })
/** The envelope flag that marks the last message of a stream, which says how the stream ended. */
const END_OF_STREAM = 2
const HEAD_BYTES = 5
/** A message holds at most one read of a pipe, so this limit is generous. */
const MAX_MESSAGE = 8 * 1_024 * 1_024

/** Encodes one message in the envelope of the Connect protocol: flags, length, JSON. */
export function encodeEnvelope(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** The messages of a stream until its end; throws if it ends with an error or ends early. */
export async function* decodeEnvelopes(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let buffered = Buffer.alloc(0)
  for await (const chunk of body) {
    buffered = Buffer.concat([buffered, chunk])
    for (let length = lengthOf(buffered); length <= buffered.length; length = lengthOf(buffered)) {
      const message: unknown = JSON.parse(buffered.subarray(HEAD_BYTES, length).toString())
      const isLast = ((buffered[0] ?? 0) & END_OF_STREAM) !== 0
      buffered = buffered.subarray(length)
      if (isLast && Failure.safeParse(message).success) {
        throw new Error('The daemon ended the stream with an error')
      }
      if (isLast) return
      yield message
    }
  }
  throw new Error('The stream of the daemon ended early')
}

/** Bytes of the envelope that begins here; infinite while its head is incomplete. Throws if it is too long. */
function lengthOf(buffered: Buffer): number {
  if (buffered.length < HEAD_BYTES) return Number.POSITIVE_INFINITY
  const length = buffered.readUInt32BE(1)
  if (length > MAX_MESSAGE) throw new Error('A message of the daemon is too long')
  return HEAD_BYTES + length
}
