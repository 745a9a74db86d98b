import { describe, expect, it } from 'vitest'
import { createChunkBatchReader, packChunkBatch } from '../../src/stores/chunk-codec.ts'

const parcelOf = (number: number) => ({
  chunks: [{ text: `Eule ${number} 👋`, heading: '', start: 0, end: 9, page: 2, pageEnd: 3 }],
  vectors: { model: 'm', dimension: 2, values: Float32Array.of(number, 0.5) },
  more: Uint8Array.of(number),
})

function readIn(length: number, bytes: Buffer) {
  const reader = createChunkBatchReader<ReturnType<typeof parcelOf>>()
  const found: unknown[] = []
  for (let start = 0; start < bytes.length; start += length) {
    found.push(...reader.push(bytes.subarray(start, start + length)))
  }
  return found
}

describe('Parcels of chunks', () => {
  const batches = [1, 2, 3].map(parcelOf)
  const bytes = Buffer.concat(batches.map(packChunkBatch))

  it.each([1, 3, 7, 64, 500, bytes.length])(
    'come out as they went in, however their bytes are cut: every %d',
    (length) => {
      expect(readIn(length, bytes)).toEqual(batches)
    },
  )

  it('are given away one by one, as soon as each is whole', () => {
    const reader = createChunkBatchReader()
    const [first] = batches.map(packChunkBatch)
    const half = Buffer.concat([first ?? Buffer.alloc(0), bytes.subarray(0, 20)])
    expect([...reader.push(half)]).toEqual([batches[0]])
    expect([...reader.push(bytes.subarray(20, bytes.length))]).toEqual(batches)
  })
})
