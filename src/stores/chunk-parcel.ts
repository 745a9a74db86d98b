import { deserialize, serialize } from 'node:v8'
import type { ChunkVectors, NewChunk } from './document-store.ts'

/** Some chunks of a long document in their order, before they have keys. */
export interface ChunkParcel {
  chunks: readonly Omit<NewChunk, 'key' | 'ordinal'>[]
  vectors: ChunkVectors | undefined
}

/** Of the number before each parcel that says how long it is. */
const HEAD_BYTES = 4

/** What else the parcel holds travels with it. */
export function packParcel<Parcel extends ChunkParcel>(parcel: Parcel): Buffer {
  const body = serialize(parcel)
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

export interface ParcelReader<Parcel> {
  /** The parcels that are whole with these bytes, the next ones of the file. */
  push(bytes: Uint8Array): Generator<Parcel>
}

/** Takes parcels out of the bytes of a file, holding no more than one of them. */
export function createParcelReader<
  Parcel extends ChunkParcel = ChunkParcel,
>(): ParcelReader<Parcel> {
  let held: Uint8Array[] = []
  let length = 0

  const gather = () => {
    const bytes = Buffer.concat(held, length)
    held = [bytes]
    return bytes
  }
  const lengthOfNext = () => {
    if (length < HEAD_BYTES) return Number.POSITIVE_INFINITY
    const first = held[0]
    const head = first && first.length >= HEAD_BYTES ? first : gather()
    return HEAD_BYTES + Buffer.from(head.buffer, head.byteOffset, HEAD_BYTES).readUInt32LE()
  }

  return {
    *push(bytes) {
      held.push(bytes)
      length += bytes.length
      for (let end = lengthOfNext(); end <= length; end = lengthOfNext()) {
        const whole = gather()
        yield deserialize(whole.subarray(HEAD_BYTES, end))
        held = [whole.subarray(end)]
        length -= end
      }
    },
  }
}
