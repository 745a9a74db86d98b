import { deserialize, serialize } from 'node:v8'
import type { NewChunk } from './document-store.ts'

/** Some chunks of a long document in their order, before they have keys. */
export interface ChunkBatch {
  chunks: readonly Omit<NewChunk, 'key' | 'ordinal'>[]
}

/** Size of the number before each chunk batch, which says how long the batch is. */
const HEAD_BYTES = 4

/** Whatever else the chunk batch holds is packed with it. */
export function packChunkBatch<Batch extends ChunkBatch>(batch: Batch): Buffer {
  const body = serialize(batch)
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

interface ChunkBatchReader<Batch> {
  /** The chunk batches that are whole with these bytes, the next ones of the file. */
  push(bytes: Uint8Array): Generator<Batch>
}

/** Takes chunk batches out of the bytes of a file, holding no more than one of them. */
export function createChunkBatchReader<
  Batch extends ChunkBatch = ChunkBatch,
>(): ChunkBatchReader<Batch> {
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

/**
 * Vectors are kept as 16-bit floats, which takes half of the room: their rounding, below 0.05 % of each
 * number, moves a cosine by some 0.0001, far less than what separates two chunks. See
 * docs/retrieval-quality.md for what was measured.
 */
export function toHalfFloats(vector: Float32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Float16Array(vector).buffer)
}

/** Writes the numbers of a stored vector into `target`, which may be shorter. */
export function fromHalfFloats(stored: Uint8Array, target: Float32Array): void {
  // The bytes may begin at an odd address, where no 16-bit array can.
  const aligned = stored.byteOffset % 2 === 0 ? stored : stored.slice()
  target.set(new Float16Array(aligned.buffer, aligned.byteOffset, target.length))
}

export function dimensionOf(stored: Uint8Array): number {
  return stored.byteLength / Float16Array.BYTES_PER_ELEMENT
}

/**
 * The same bytes in pieces of `length`; the last one may be shorter. A piece is valid until the next is asked for:
 * all share one memory, which is handed from thread to thread without copies that wait to be collected.
 */
export async function* repack(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array<SharedArrayBuffer>> {
  const piece = new Uint8Array(new SharedArrayBuffer(length))
  let filled = 0
  for await (const incoming of pieces) {
    for (let position = 0; position < incoming.length; ) {
      const part = incoming.subarray(position, position + length - filled)
      piece.set(part, filled)
      filled += part.length
      position += part.length
      if (filled < length) break
      yield piece
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}

/**
 * The text that chunks were cut from, in their order. Blanks between them, which no chunk holds, become line
 * feeds: one code unit for another, so that offsets into the text still hold.
 */
export function textOfChunks(
  chunks: Iterable<Pick<NewChunk, 'start' | 'end' | 'text'>>,
  from = 0,
): string {
  const parts: string[] = []
  let end = from
  for (const chunk of chunks) {
    if (chunk.start > end) parts.push('\n'.repeat(chunk.start - end))
    parts.push(chunk.text.slice(Math.max(0, end - chunk.start)))
    end = Math.max(end, chunk.end)
  }
  return parts.join('')
}
