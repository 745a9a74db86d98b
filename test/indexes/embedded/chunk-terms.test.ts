import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { mergeSegments } from '../../../src/indexes/embedded/merge.ts'
import { openSnapshot } from '../../../src/indexes/embedded/snapshot.ts'
import { inSlices } from '../../../src/lib/processes/thread.ts'
import { batchOf } from '../../contracts/chunk-index.fixture.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { type Chunk, createRandom, randomChunk } from './random-chunks.ts'

const random = createRandom(3)
/** One without a term, one with the most that is counted of one. */
const CHUNKS = new Map<number, Chunk>([
  ...Array.from({ length: 300 }, (_, i) => [5 * i + 2, randomChunk(random, 400)] as const),
  [9, {}],
  [10, { wing: 255 }],
])
const KEYS = [...CHUNKS.keys()]

const expected = KEYS.map((key) => ({ key, terms: batchOf([CHUNKS.get(key) ?? {}]) }))

async function open(directory: string) {
  const snapshot = await openSnapshot({ directory, fingerprint: 'test', notify: () => undefined })
  return { snapshot, index: createLexicalIndex(snapshot.loaded) }
}

/** Three segments, the keys of which are mixed. */
function fill(index: ReturnType<typeof createLexicalIndex>) {
  for (const part of [0, 1, 2]) {
    const keys = KEYS.filter((_, i) => i % 3 === part)
    const batch = batchOf(keys.map((key) => CHUNKS.get(key) ?? {}))
    index.add(Uint32Array.from(keys), batch, 0, keys.length)
  }
}

it('tells the terms of a chunk as they came: unwritten, written, merged, and opened again', async () => {
  const directory = await temporaryDirectory()
  const { index, snapshot } = await open(directory)
  fill(index)
  expect(index.termsOf(KEYS)).toEqual(expected)
  const sources = index.segments
  await snapshot.save(sources)
  expect(sources.every(({ file }) => file !== undefined)).toBe(true)
  expect(index.termsOf(KEYS)).toEqual(expected)

  index.replace(sources, await inSlices(mergeSegments(sources)))
  expect(index.termsOf(KEYS)).toEqual(expected)
  await snapshot.save(index.segments)
  // What was merged away holds no file open.
  expect(sources.every(({ file }) => file === undefined)).toBe(true)
  expect(index.termsOf(KEYS)).toEqual(expected)
  expect((await open(directory)).index.termsOf(KEYS)).toEqual(expected)
})

it('tells nothing of a chunk that is removed or unknown, and the later terms of one that is replaced', async () => {
  const { index, snapshot } = await open(await temporaryDirectory())
  fill(index)
  await snapshot.save(index.segments)
  index.remove([2])
  index.add(Uint32Array.of(7), batchOf([{ wing: 3 }]), 0, 1)
  expect(index.termsOf([2, 3, 7])).toEqual([{ key: 7, terms: batchOf([{ wing: 3 }]) }])
})

it('reads them in the file, and puts them together from memory where that is damaged', async () => {
  const directory = await temporaryDirectory()
  const { index, snapshot } = await open(directory)
  fill(index)
  await snapshot.save(index.segments)
  const [segment] = index.segments
  const from = segment?.bytes.byteLength ?? 0
  const record = { key: segment?.keys[0] ?? 0, end: from + 4 * (segment?.records[1] ?? 0) }
  const path = join(directory, '1.segment')
  const whole = await readFile(path)
  const learned = async (change: (bytes: Buffer) => Buffer) => {
    await writeFile(path, change(Buffer.from(whole)))
    return index.termsOf([record.key])[0]?.terms.counts[0]
  }
  const other = (bytes: Buffer) => {
    bytes[record.end - 1] = 200
    return bytes
  }
  const before = await learned((bytes) => bytes)
  expect(before).not.toBe(200)
  expect(await learned(other)).toBe(before)
  expect(await learned((bytes) => bytes.subarray(0, from + 6))).toBe(before)
  const believed = await learned((bytes) => {
    const checksum = crc32(other(bytes).subarray(from + 4, record.end))
    bytes.set(new Uint8Array(Uint32Array.of(checksum).buffer), from)
    return bytes
  })
  expect(believed).toBe(200)
})
