import { createChunkBatchReader, packChunkBatch } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { repack, textOfChunks } from '../../packages/stores/src/chunk-codec.ts'
import { splitText } from '../../src/documents/ingestion/split/split-text.ts'
import { randomText, seededRandom } from '../documents/ingestion/random-text.ts'

const batchOf = (number: number) => ({
  chunks: [{ text: `Eule ${number} 👋`, heading: '', start: 0, end: 9, page: 2, pageEnd: 3 }],
  more: Uint8Array.of(number),
})

function readIn(length: number, bytes: Buffer) {
  const reader = createChunkBatchReader<ReturnType<typeof batchOf>>()
  const found: unknown[] = []
  for (let start = 0; start < bytes.length; start += length) {
    found.push(...reader.push(bytes.subarray(start, start + length)))
  }
  return found
}

describe('Chunk batches', () => {
  const batches = [1, 2, 3].map(batchOf)
  const bytes = Buffer.concat(batches.map(packChunkBatch))

  it.each([1, 3, 7, 64, 500, bytes.length])(
    'come out as they went in, however their bytes are cut: every %d',
    (length) => {
      expect(readIn(length, bytes)).toEqual(batches)
    },
  )

  it('are yielded one by one, as soon as each is complete', () => {
    const reader = createChunkBatchReader()
    const [first] = batches.map(packChunkBatch)
    const half = Buffer.concat([first ?? Buffer.alloc(0), bytes.subarray(0, 20)])
    expect([...reader.push(half)]).toEqual([batches[0]])
    expect([...reader.push(bytes.subarray(20, bytes.length))]).toEqual(batches)
  })
})

const withoutBlanks = (text: string) => text.replaceAll(/\s+/g, '\n').trim()

describe('The text of chunks', () => {
  it('is the text that they were cut from, blanks apart', () => {
    for (let seed = 0; seed < 20; seed++) {
      const text = randomText(seededRandom(seed), 5_000)
      const found = textOfChunks(splitText(text))
      expect(withoutBlanks(found)).toBe(withoutBlanks(text))
    }
  })

  it('has every character at its offset', () => {
    const text = `${'Eulen jagen nachts. '.repeat(200)}\n\n\n${'Reiher warten am Ufer. '.repeat(200)}`
    const found = textOfChunks(splitText(text))
    expect(found.slice(4_003, 4_009)).toBe('Reiher')
    expect(found).toHaveLength(text.trimEnd().length)
  })

  it('has page breaks between chunks of different pages, where there is room', () => {
    const chunk = (start: number, page?: number, pageEnd = page) => ({
      start,
      end: start + 1,
      text: 'x',
      page,
      pageEnd,
    })
    const chunks = [chunk(0, 1), chunk(5, 2, 3), chunk(7, 3), chunk(12, 5), chunk(14, 6), chunk(17)]
    expect(textOfChunks(chunks)).toBe('x\n\n\f\nx\nx\f\n\f\nx\nx\n\nx')
    expect(textOfChunks(chunks.slice(1), 3)).toMatch(/^\n\nx\nx/)
  })

  it('is empty where there are none', () => {
    expect(textOfChunks([])).toBe('')
  })
})

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

it('yields all pieces in one buffer that threads can share', async () => {
  const memories = new Set<ArrayBufferLike>()
  for await (const { buffer } of repack(inPieces([[1, 2, 3, 4, 5, 6, 7]]), 3)) memories.add(buffer)
  expect(memories.size).toBe(1)
  expect([...memories][0]).toBeInstanceOf(SharedArrayBuffer)
})

it('uses no more memory than a small file needs', async () => {
  const [piece] = await Array.fromAsync(repack(inPieces([[1, 2]]), 1_000_000))
  expect([...(piece ?? [])]).toEqual([1, 2])
  expect(piece?.buffer.byteLength).toBe(2)
})
