import { describe, expect, it } from 'vitest'
import {
  CorpusChanged,
  type CorpusStart,
  firstCheckpoint,
  nextCheckpoint,
  skipCopied,
  startAfter,
} from '../src/corpus.ts'
import type { StoredDocument } from '../src/document-store.ts'

const START: CorpusStart = {
  kind: 'start',
  collectionNames: [],
  collections: [],
  reservedCollections: [],
  embedding: { model: 'model-a', dimension: 2 },
  documents: 3,
  chunks: 6,
  nextChunkKey: 9,
}

function document(id: string, more: Partial<StoredDocument> = {}): StoredDocument {
  return {
    id,
    title: undefined,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
    file: undefined,
    status: 'ready',
    error: undefined,
    attempts: 1,
    revision: 1,
    servedRevision: 1,
    chunkCount: 2,
    characters: 10,
    createdAt: 1,
    updatedAt: 2,
    ...more,
  }
}

const DOCUMENTS = [document('a'), document('b'), document('c')]
const checkpointOf = (documents: readonly StoredDocument[], start = START) =>
  documents.reduce(nextCheckpoint, firstCheckpoint(start))

/** Skips what a checkpoint was made of, among these documents; answers the first that is left. */
async function skip(
  documents: readonly StoredDocument[],
  after = checkpointOf(DOCUMENTS.slice(0, 2)),
) {
  const rest = documents.values()
  await skipCopied(async () => rest.next().value, START, after)
  return rest.next().value?.id
}

describe('The checkpoint of a copy', () => {
  it('counts the records copied and the records left', () => {
    const checkpoint = checkpointOf(DOCUMENTS.slice(0, 2))
    expect(checkpoint).toMatchObject({ documents: 2, chunks: 4 })
    expect(startAfter(START, checkpoint)).toEqual({ ...START, documents: 1, chunks: 2 })
  })

  it('leads to the first document that was not copied, whatever comes after it', async () => {
    expect(await skip(DOCUMENTS)).toBe('c')
    expect(await skip([...DOCUMENTS.slice(0, 2), document('z')])).toBe('z')
    expect(await skip(DOCUMENTS, firstCheckpoint(START))).toBe('a')
  })

  it.each([
    ['is gone', DOCUMENTS.slice(1)],
    ['is another', [document('x'), ...DOCUMENTS.slice(1)]],
    ['was replaced', [document('a', { revision: 2 }), ...DOCUMENTS.slice(1)]],
    ['was touched', [document('a', { updatedAt: 3 }), ...DOCUMENTS.slice(1)]],
    ['has other passages', [document('a', { chunkCount: 3 }), ...DOCUMENTS.slice(1)]],
    ['is at another place', [...DOCUMENTS].reverse()],
    ['is one of none', []],
  ])('is of another corpus where a document that was copied %s', async (_how, documents) => {
    await expect(skip(documents)).rejects.toThrow(CorpusChanged)
  })

  it('is of another corpus where the vectors are of another model', async () => {
    const other = { ...START, embedding: { model: 'model-b', dimension: 2 } }
    await expect(skip(DOCUMENTS, checkpointOf(DOCUMENTS.slice(0, 2), other))).rejects.toThrow(
      CorpusChanged,
    )
  })
})
