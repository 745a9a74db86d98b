import type {
  Embedding,
  Idempotency,
  KeyedVectors,
  NewChunk,
  StoredDocument,
} from './document-store.ts'

/** Comes first: what to expect of the rest. */
export interface CorpusStart {
  kind: 'start'
  /** What made the vectors; nothing where there are none. */
  embedding: Embedding | undefined
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

/** All that an authority holds, from one place to another: nothing is split or embedded again, and no id or key changes. */
export interface Corpus {
  /**
   * One moment's view, whatever is written meanwhile, in bounded memory; of what comes after a mark, where one is
   * given. Throws what `signal` was aborted with, and `CorpusChanged` where the mark is of other documents.
   */
  readCorpus(signal: AbortSignal, after?: CopyMark): AsyncIterable<CorpusRecord>
  /**
   * All of it or nothing, in bounded memory, while no server runs on it. Throws `store_unavailable` where
   * there are documents already, an Error where records are missing, and what reading them throws.
   */
  writeCorpus(records: AsyncIterable<CorpusRecord>, signal: AbortSignal): Promise<void>
  /** Absent where a copy is interrupted at the cost of all of it. */
  readonly copies?: CorpusCopies
}

/** How far a copy has come, and of what it is: the first documents of a corpus, in their order. */
export interface CopyMark {
  documents: number
  chunks: number
  /** Of what tells these documents, as they were, from all others. */
  digest: string
}

/** Copying that goes on where it was interrupted. */
export interface CorpusCopies {
  /** What an interrupted copy has left; nothing where there is none. */
  copied(): Promise<CopyMark | undefined>
  /**
   * Adds what comes after a mark, or begins where there is none. Servers may start on it once all is there. Throws
   * as `writeCorpus`, but what was copied stays; and an Error where something else was copied meanwhile.
   */
  continueAfter(
    mark: CopyMark | undefined,
    records: AsyncIterable<CorpusRecord>,
    signal: AbortSignal,
  ): Promise<void>
  /** Takes away what an interrupted copy has left. */
  forget(): Promise<void>
}
