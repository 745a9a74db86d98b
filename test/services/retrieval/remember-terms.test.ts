import { expect, it } from 'vitest'
import { createAnalyser } from '../../../src/indexes/analyser/analyser.ts'
import { rememberTerms } from '../../../src/services/retrieval/feedback.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const analyser = createAnalyser('english')

/** Chunks of all keys but those above 30,000, and which of them were read. */
function createForTest() {
  const reads: number[][] = []
  const readChunks = async (keys: readonly number[]) => {
    reads.push([...keys])
    return keys.filter((key) => key <= 30_000).map(chunkOf)
  }
  return { reads, termsOf: rememberTerms({ analyser, store: { readChunks } }) }
}

function chunkOf(key: number): StoredChunk {
  const source = {
    id: `${key}`,
    documentId: `${key}`,
    title: 'A title',
    url: undefined,
    metadata: undefined,
  }
  const text = `turbine ${key % 10_000}`
  return { ...source, key, ordinal: 0, text, heading: '', start: 0, end: text.length }
}

it('gives the terms that the analyser gives, and reads a chunk once', async () => {
  const { reads, termsOf } = createForTest()
  const [first, second] = await termsOf([1, 2])
  expect(first).toMatchObject({ key: 1, terms: analyser.batch([chunkOf(1)]) })
  expect(second).toMatchObject({ key: 2, terms: analyser.batch([chunkOf(2)]) })
  expect(await termsOf([2, 1])).toEqual([second, first])
  expect(await termsOf([3, 1])).toMatchObject([{ key: 3 }, { key: 1 }])
  expect(reads).toEqual([[1, 2], [3]])
})

it('tells chunks of the same text from others', async () => {
  const { termsOf } = createForTest()
  const [one, same, other] = await termsOf([1, 10_001, 2])
  expect(same?.digest).toBe(one?.digest)
  expect(other?.digest).not.toBe(one?.digest)
})

it('leaves out what does not exist', async () => {
  const { termsOf } = createForTest()
  expect(await termsOf([40_000, 1])).toMatchObject([{ key: 1 }])
})

it('forgets what was not asked for lately, and keeps what was', async () => {
  const { reads, termsOf } = createForTest()
  for (let key = 2; key <= 20_000; key++) await termsOf([key, 1])
  expect(reads.flat().filter((key) => key === 1)).toHaveLength(1)
  await termsOf([2])
  expect(reads.flat().filter((key) => key === 2)).toHaveLength(2)
})
