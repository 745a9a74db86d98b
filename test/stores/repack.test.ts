import { expect, it } from 'vitest'
import { repack } from '../../src/stores/repack.ts'

async function* inPieces(pieces: readonly number[][]) {
  for (const piece of pieces) yield Uint8Array.from(piece)
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
  const packed = await Array.fromAsync(repack(inPieces(pieces), 3))
  expect(packed.map((piece) => [...piece])).toEqual(expected)
})

it('gives each piece memory of its own, so that it can be handed on', async () => {
  const pieces = await Array.fromAsync(repack(inPieces([[1, 2, 3, 4]]), 3))
  expect(pieces.map(({ buffer }) => buffer.byteLength)).toEqual([3, 1])
})
