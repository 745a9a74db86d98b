import { createHash } from 'node:crypto'
import type {
  EmbeddingModel,
  Idempotency,
  KeyedVectors,
  NewChunk,
  StoredDocument,
} from './document-store.ts'

/** Comes first: what to expect of the rest. */
export interface CorpusStart {
  kind: 'start'
  /** What made the vectors; nothing where there are none. */
  embedding: EmbeddingModel | undefined
  documents: number
  chunks: number
  /** No chunk key from this one on was ever given away. */
  nextChunkKey: number
}

/** What a replacement that is under way, or has failed, will change. */
export type CorpusReplacement = Pick<
  StoredDocument,
  'title' | 'url' | 'metadata' | 'file' | 'characters'
>

/** One document with all but its chunks, which follow it. Documents come in the order in which they were added. */
export interface CorpusDocument {
  kind: 'document'
  /** Never `processing`: a claim does not travel, so its document waits again. */
  document: StoredDocument
  /** The text of the revision that is served, and of a later one while there is one. */
  contents: { revision: number; text: string }[]
  replacement: CorpusReplacement | undefined
  /** When its ingestion is due; nothing if it does not wait. */
  dueAt: number | undefined
  idempotency: Idempotency[]
}

/** Some chunks of the document before, of its served revision, in their order, with those vectors that they have. */
export interface CorpusChunks {
  kind: 'chunks'
  chunks: NewChunk[]
  vectors: KeyedVectors
}

/** The next piece of the file that a revision of the document before was sent as; empty only where the file is. */
export interface CorpusPiece {
  kind: 'piece'
  revision: number
  bytes: Uint8Array
}

/** The start, then each document with its chunks and after them the pieces of its files. */
export type CorpusRecord = CorpusStart | CorpusDocument | CorpusChunks | CorpusPiece

/** All that a document store holds, from one place to another: nothing is split or embedded again, and no id or key changes. */
export interface Corpus {
  /**
   * One moment's view, whatever is written meanwhile, in bounded memory; of what comes after a checkpoint,
   * where one is given. Throws what `signal` was aborted with, and `CorpusChanged` where it is of other documents.
   */
  readCorpus(signal: AbortSignal, after?: CopyCheckpoint): AsyncIterable<CorpusRecord>
  /**
   * All of it or nothing, in bounded memory, while no server runs on it. Throws `store_unavailable` where
   * there are documents already, an Error where records are missing, and what reading them throws.
   */
  writeCorpus(records: AsyncIterable<CorpusRecord>, signal: AbortSignal): Promise<void>
  /** Absent where a copy is interrupted at the cost of all of it. */
  readonly copies?: CorpusCopies
}

/** How far a copy has come, and of what it is: the first documents of a corpus, in their order. */
export interface CopyCheckpoint {
  documents: number
  chunks: number
  /** Of what distinguishes these documents, as they were, from all others. */
  digest: string
}

/** Copying that goes on where it was interrupted. */
export interface CorpusCopies {
  /** What an interrupted copy has left; nothing where there is none. */
  copied(): Promise<CopyCheckpoint | undefined>
  /**
   * Adds what comes after a checkpoint, or begins where there is none. Servers may start on it once all is there. Throws
   * as `writeCorpus`, but what was copied stays; and an Error where something else was copied meanwhile.
   */
  continueAfter(
    after: CopyCheckpoint | undefined,
    records: AsyncIterable<CorpusRecord>,
    signal: AbortSignal,
  ): Promise<void>
  /** Takes away what an interrupted copy has left. */
  forget(): Promise<void>
}

/** Passes records on as they are. Throws as soon as one is missing or does not belong where it stands. */
export async function* checkedCorpus(
  records: AsyncIterable<CorpusRecord>,
  signal: AbortSignal,
): AsyncGenerator<CorpusRecord> {
  const check = createCheck()
  for await (const record of records) {
    signal.throwIfAborted()
    check.next(record)
    yield record
  }
  check.end()
}

function createCheck() {
  let start: CorpusStart | undefined
  let current: CorpusDocument | undefined
  let documents = 0
  let chunks = 0
  let chunksOfCurrent = 0

  const endDocument = () => {
    const expected = current?.document.chunkCount ?? 0
    if (chunksOfCurrent === expected) return
    throw new Error(
      `The document ${current?.document.id} has ${chunksOfCurrent} chunks instead of ${expected}`,
    )
  }
  const begin = (record: CorpusStart) => {
    if (start) throw new Error('The corpus begins twice')
    start = record
  }
  const beginDocument = (record: CorpusDocument) => {
    endDocument()
    current = record
    chunksOfCurrent = 0
    documents++
  }

  const addChunks = ({ chunks: added, vectors }: CorpusChunks, { embedding }: CorpusStart) => {
    if (vectors.keys.length > 0 && vectors.dimension !== embedding?.dimension) {
      throw new Error(
        `Vectors of ${vectors.dimension} numbers do not go with ${embedding?.model ?? 'no model'}`,
      )
    }
    chunks += added.length
    chunksOfCurrent += added.length
  }

  return {
    next(record: CorpusRecord): void {
      if (record.kind === 'start') begin(record)
      else if (!start) throw new Error('The corpus does not begin with its start')
      else if (record.kind === 'document') beginDocument(record)
      else if (!current) throw new Error('The corpus has a part of a document before the first')
      else if (record.kind === 'chunks') addChunks(record, start)
    },
    end(): void {
      endDocument()
      if (start && documents === start.documents && chunks === start.chunks) return
      throw new Error(
        `The corpus has ${documents} documents with ${chunks} chunks instead of ${start?.documents} with ${start?.chunks}`,
      )
    },
  }
}

/** What was copied is no longer the beginning of the corpus: the rest would not go with it. */
export class CorpusChanged extends Error {
  override readonly name = 'CorpusChanged'

  constructor() {
    super('The corpus has changed since the copy was begun')
  }
}

/** Where a copy begins. */
export function firstCheckpoint({ embedding }: Pick<CorpusStart, 'embedding'>): CopyCheckpoint {
  const { model, dimension } = embedding ?? {}
  return { documents: 0, chunks: 0, digest: digestOf([model, dimension]) }
}

/** The checkpoint one document further on. Every change of a document changes `updatedAt`, also a claim that ended or was given back. */
export function nextCheckpoint(
  checkpoint: CopyCheckpoint,
  document: StoredDocument,
): CopyCheckpoint {
  const { id, revision, servedRevision, chunkCount, characters, updatedAt } = document
  return {
    documents: checkpoint.documents + 1,
    chunks: checkpoint.chunks + chunkCount,
    digest: digestOf([
      checkpoint.digest,
      id,
      revision,
      servedRevision,
      chunkCount,
      characters,
      updatedAt,
    ]),
  }
}

/** What is left of a corpus after a checkpoint. */
export function startAfter(start: CorpusStart, { documents, chunks }: CopyCheckpoint): CorpusStart {
  return { ...start, documents: start.documents - documents, chunks: start.chunks - chunks }
}

/** Skips the documents before a checkpoint. Throws `CorpusChanged` where they are not the ones that were copied. */
export async function skipCopied(
  next: () => Promise<StoredDocument | undefined>,
  start: CorpusStart,
  after: CopyCheckpoint,
): Promise<void> {
  let checkpoint = firstCheckpoint(start)
  while (checkpoint.documents < after.documents) {
    const document = await next()
    if (!document) throw new CorpusChanged()
    checkpoint = nextCheckpoint(checkpoint, document)
  }
  if (checkpoint.digest !== after.digest) throw new CorpusChanged()
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
