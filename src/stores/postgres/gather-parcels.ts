import { createParcelReader } from '../chunk-parcel.ts'
import type { ChunkVectors, KeptChunks, NewChunk } from '../document-store.ts'

/** All chunks of a kept file, with their keys: one statement takes them together. */
export async function gatherParcels(
  pieces: AsyncIterable<Uint8Array>,
  { firstKey, count }: KeptChunks,
): Promise<{ chunks: NewChunk[]; vectors: ChunkVectors | undefined }> {
  const reader = createParcelReader()
  const chunks: NewChunk[] = []
  const parts: ChunkVectors[] = []
  for await (const piece of pieces) {
    for (const parcel of reader.push(piece)) {
      for (const chunk of parcel.chunks) {
        chunks.push({ ...chunk, key: firstKey + chunks.length, ordinal: chunks.length })
      }
      if (parcel.vectors) parts.push(parcel.vectors)
    }
  }
  if (chunks.length !== count) {
    throw new Error(`There are ${chunks.length} kept chunks instead of ${count}`)
  }
  return { chunks, vectors: joined(parts) }
}

function joined(parts: readonly ChunkVectors[]): ChunkVectors | undefined {
  const [first] = parts
  if (!first) return undefined
  const length = parts.reduce((sum, { values }) => sum + values.length, 0)
  const values = new Float32Array(length)
  let position = 0
  for (const part of parts) {
    values.set(part.values, position)
    position += part.values.length
  }
  return { ...first, values }
}
