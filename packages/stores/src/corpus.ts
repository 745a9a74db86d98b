import { createHash } from 'node:crypto'
import { counted } from '@agent-server/lib/text/counted.ts'
import type { Accepted } from './accepted.ts'
import type { StoredCollection } from './collection-store.ts'
import type {
  DocumentContent,
  EmbeddingModel,
  Idempotency,
  KeyedVectors,
  NewChunk,
  StoredDocument,
} from './document-store.ts'

/** The first record: what to expect of the rest. */
export interface CorpusStart {
  kind: 'start'
  /** The model of the vectors; undefined if there are none. */
  embedding: EmbeddingModel | undefined
  documents: number
  chunks: number
  /** Neither this chunk key nor any greater one was ever handed out. */
  nextChunkKey: number
  /** What clients of vector stores call collections, and whose share of names each counts towards. */
  collectionNames: { collection: string; name: string; owner: string }[]
  /** The collections that people share, and with whom. */
  collections: StoredCollection[]
  /** Names that no person can take. */
  reservedCollections: string[]
}

/** One document without its chunks, which follow it. Documents are in the order in which they were added. */
export interface CorpusDocument {
  kind: 'document'
  /** Never `processing`: claims are not copied, so such a document becomes `pending` again. */
  document: StoredDocument
  /** The text of the served revision, and of a later one if there is one. */
  contents: { revision: number; text: string }[]
  /** What a replacement that is in progress, or has failed, would change. */
  replacement: DocumentContent | undefined
  /** When its ingestion is due; undefined if it is not queued. */
  dueAt: number | undefined
  idempotency: Idempotency[]
}

/** Some chunks of the preceding document's served revision, in order, with the vectors that exist. */
export interface CorpusChunks {
  kind: 'chunks'
  chunks: NewChunk[]
  vectors: KeyedVectors
}

/** The next piece of the file that a revision of the preceding document was sent as; empty only if the file is. */
export interface CorpusPiece {
  kind: 'piece'
  revision: number
  bytes: Uint8Array
}

/** The start, then each document followed by its chunks and then by the pieces of its files. */
export type CorpusRecord = CorpusStart | CorpusDocument | CorpusChunks | CorpusPiece

/**
 * The documents of a store, to be copied into another: nothing is split or embedded again, and no id or key changes.
 */
export interface CorpusReads {
  /**
   * Reads a consistent snapshot, whatever is written meanwhile, in bounded memory; with a checkpoint, only what comes
   * after it. Throws the reason of `signal`, and `CorpusChanged` if the checkpoint does not match these documents.
   */
  readCorpus(signal: AbortSignal, after?: CopyCheckpoint): AsyncIterable<CorpusRecord>
}

export interface CorpusSource extends CorpusReads {
  readAccepted(): Promise<Accepted>
}

/** The progress of a copy: it contains the first documents of a corpus, in order. */
export interface CopyCheckpoint {
  documents: number
  chunks: number
  /** A digest that identifies these documents in the state in which they were copied. */
  digest: string
}

/** Takes a copy while no server is running on it, in steps that an interruption does not undo. */
export interface CorpusTarget extends CorpusReads {
  /** What an interrupted copy has copied so far; undefined if there is none. */
  copied(): Promise<CopyCheckpoint | undefined>
  /**
   * Adds what comes after a checkpoint, or starts from the beginning without one, in bounded memory. Servers can start
   * on it only once it is complete. Throws `store_unavailable` if there are documents already, an Error if records are
   * missing or another copy came in between, and what reading them throws; it keeps what was copied.
   */
  continueAfter(
    after: CopyCheckpoint | undefined,
    records: AsyncIterable<CorpusRecord>,
    signal: AbortSignal,
  ): Promise<void>
  /** Removes what an interrupted copy has left. */
  forget(): Promise<void>
  /** Adds what was accepted elsewhere; what was accepted here stays. */
  addAccepted(accepted: Accepted): Promise<void>
}

/** Passes records on unchanged. Throws an Error as soon as one is missing or out of place. */
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
      `The document ${current?.document.id} has ${counted(chunksOfCurrent, 'chunk')} instead of ${expected}`,
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
        `Vectors of ${vectors.dimension} numbers are incompatible with ${embedding?.model ?? 'no model'}`,
      )
    }
    chunks += added.length
    chunksOfCurrent += added.length
  }

  return {
    next(record: CorpusRecord): void {
      if (record.kind === 'start') begin(record)
      else if (!start) throw new Error('The first record of a corpus must be its header')
      else if (record.kind === 'document') beginDocument(record)
      else if (!current)
        throw new Error('The corpus has a part of a document before the first document')
      else if (record.kind === 'chunks') addChunks(record, start)
    },
    end(): void {
      endDocument()
      if (start && documents === start.documents && chunks === start.chunks) return
      throw new Error(
        `The corpus has ${counted(documents, 'document')} with ${counted(chunks, 'chunk')} instead of ${start?.documents} with ${start?.chunks}`,
      )
    },
  }
}

/** What was copied is no longer the beginning of the corpus, so the rest would not match it. */
export class CorpusChanged extends Error {
  override readonly name = 'CorpusChanged'

  constructor() {
    super('The corpus has changed since the copy was begun')
  }
}

export function firstCheckpoint({ embedding }: Pick<CorpusStart, 'embedding'>): CopyCheckpoint {
  const { model, dimension } = embedding ?? {}
  return { documents: 0, chunks: 0, digest: digestOf([model, dimension]) }
}

/** The checkpoint one document further on. Any change of a document changes `updatedAt`, even the end of a claim. */
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

/** The start record for the rest of a corpus after a checkpoint. */
export function startAfter(start: CorpusStart, { documents, chunks }: CopyCheckpoint): CorpusStart {
  return { ...start, documents: start.documents - documents, chunks: start.chunks - chunks }
}

/** Skips the documents before a checkpoint. Throws `CorpusChanged` if they differ from those that were copied. */
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
