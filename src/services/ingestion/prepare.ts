import type { TermBatch } from '../../indexes/term-batch.ts'
import type { SplitContext } from './split/split-context.ts'

/** What splitting and analysing need to know of a document. */
export interface Source {
  title: string | undefined
  text: string
  /** Where the text is the next piece of a longer one: how the piece before it ended. */
  context?: SplitContext | undefined
}

/** A passage before it has a key; `start` and `end` are offsets into the source text, in UTF-16 code units. */
export interface Passage {
  text: string
  heading: string
  start: number
  end: number
  /** Where it stands in a file that has pages, from 1. */
  page?: number | undefined
  pageEnd?: number | undefined
}

export interface Prepared {
  passages: Passage[]
  /** One entry per passage, in order. */
  terms: TermBatch
}

/** A piece of a long text; it has no passages where it holds nothing but blanks. */
export interface PreparedPiece extends Prepared {
  /** For the next piece. */
  context: SplitContext
}

/** The processor-hungry half of ingestion, kept off the event loop. */
export interface Preparer {
  /** Throws AppError `invalid_request` where the text holds nothing to index; any other error is the document's too. */
  prepare(source: Source, signal?: AbortSignal): Promise<Prepared>
  /** As `prepare`, of a piece of a long text; offsets are those into the piece. */
  preparePiece(source: Source, signal?: AbortSignal): Promise<PreparedPiece>
  /** Analyses passages that exist already, to rebuild an index. */
  analyse(passages: readonly IndexedText[]): Promise<TermBatch>
  close(): Promise<void>
}

/** The fields of a chunk that search looks at. */
export interface IndexedText {
  title: string | undefined
  heading: string
  text: string
}
