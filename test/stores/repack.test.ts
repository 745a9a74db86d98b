import { expect, it } from 'vitest'
import { repack } from '../../src/stores/chunk-codec.ts'

async function* inPieces(pieces: readonly number[][]) {
  for (const piece of pieces) yield Uint8Array.from(piece)
}

async function packed(pieces: readonly number[][]): Promise<number[][]> {
  const read: number[][] = []
  for await (const piece of repack(inPieces(pieces), 3)) read.push([...piece])
  return read
}

it.each([
  [
    'smaller ones',
    [[1], [2, 3], [4, 5]],
    [
      [1, 2, 3],
      [4, 5],
    ],
  ],
  ['larger ones', [[1, 2, 3, 4, 5, 6, 7]], [[1, 2, 3], [4, 5, 6], [7]]],
  [
    'ones that fit',
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
  ],
  ['empty ones', [[], [1], []], [[1]]],
  ['nothing', [], []],
])('makes pieces of one length out of %s', async (_case, pieces, expected) => {
  expect(await packed(pieces)).toEqual(expected)
})

it('gives all pieces in one memory that threads can share', async () => {
  const memories = new Set<ArrayBufferLike>()
  for await (const { buffer } of repack(inPieces([[1, 2, 3, 4, 5, 6, 7]]), 3)) memories.add(buffer)
  expect(memories.size).toBe(1)
  expect([...memories][0]).toBeInstanceOf(SharedArrayBuffer)
})
