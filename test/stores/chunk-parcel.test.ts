import { describe, expect, it } from 'vitest'
import { createParcelReader, packParcel } from '../../src/stores/chunk-codec.ts'

const parcelOf = (number: number) => ({
  chunks: [{ text: `Eule ${number} 👋`, heading: '', start: 0, end: 9, page: 2, pageEnd: 3 }],
  vectors: { model: 'm', dimension: 2, values: Float32Array.of(number, 0.5) },
  more: Uint8Array.of(number),
})

function readIn(length: number, bytes: Buffer) {
  const reader = createParcelReader<ReturnType<typeof parcelOf>>()
  const found: unknown[] = []
  for (let start = 0; start < bytes.length; start += length) {
    found.push(...reader.push(bytes.subarray(start, start + length)))
  }
  return found
}

describe('Parcels of chunks', () => {
  const parcels = [1, 2, 3].map(parcelOf)
  const bytes = Buffer.concat(parcels.map(packParcel))

  it.each([1, 3, 7, 64, 500, bytes.length])(
    'come out as they went in, however their bytes are cut: every %d',
    (length) => {
      expect(readIn(length, bytes)).toEqual(parcels)
    },
  )

  it('are given away one by one, as soon as each is whole', () => {
    const reader = createParcelReader()
    const [first] = parcels.map(packParcel)
    const half = Buffer.concat([first ?? Buffer.alloc(0), bytes.subarray(0, 20)])
    expect([...reader.push(half)]).toEqual([parcels[0]])
    expect([...reader.push(bytes.subarray(20, bytes.length))]).toEqual(parcels)
  })
})
