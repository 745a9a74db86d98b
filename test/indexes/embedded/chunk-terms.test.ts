import { inSlices } from '@agent-server/lib/processes/thread.ts'
import { expect, it } from 'vitest'
import { termsOf } from '../../../src/indexes/embedded/chunk-terms.ts'
import { createLexicalIndex } from '../../../src/indexes/embedded/lexical.ts'
import { mergeSegments } from '../../../src/indexes/embedded/merge.ts'
import { openSnapshot } from '../../../src/indexes/embedded/snapshot.ts'
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

const expected = KEYS.map((key) => toTerms(key, CHUNKS.get(key) ?? {}))

function toTerms(key: number, chunk: Chunk) {
  const { lengths, terms, counts } = batchOf([chunk])
  return { key, length: lengths[0], terms, counts }
}

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
  expect(termsOf(index.segments, KEYS)).toEqual(expected)
  const sources = index.segments
  await snapshot.save(sources)
  expect(sources.every(({ file }) => file !== undefined)).toBe(true)
  expect(termsOf(index.segments, KEYS)).toEqual(expected)

  index.replace(sources, await inSlices(mergeSegments(sources)))
  expect(termsOf(index.segments, KEYS)).toEqual(expected)
  await snapshot.save(index.segments)
  // What was merged away holds no file open.
  expect(sources.every(({ file }) => file === undefined)).toBe(true)
  expect(termsOf(index.segments, KEYS)).toEqual(expected)
  expect(termsOf((await open(directory)).index.segments, KEYS)).toEqual(expected)
})

it('tells nothing of a chunk that is removed or unknown, and the later terms of one that is replaced', async () => {
  const { index, snapshot } = await open(await temporaryDirectory())
  fill(index)
  await snapshot.save(index.segments)
  index.remove([2])
  index.add(Uint32Array.of(7), batchOf([{ wing: 3 }]), 0, 1)
  expect(termsOf(index.segments, [2, 3, 7])).toEqual([toTerms(7, { wing: 3 })])
})
