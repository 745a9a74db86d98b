import type { ownPacked } from './packed-text.ts'

/** What was read out of a file. */
export interface Extracted {
  /** Markdown where the file has headings, tables or lists; else plain text. */
  text: string
  /** Where each page begins in `text`, in UTF-16 code units; absent where the file has no pages. */
  pageStarts?: number[]
}

/** The same as the server gets it: a long text is nowhere whole. */
export interface ReadText {
  /** In order; none divides a character. Whoever reads a piece takes it. */
  pieces: ReturnType<typeof ownPacked>[]
  /** Of all pieces, in UTF-16 code units. */
  characters: number
  pageStarts?: readonly number[]
}

/** A file that is to be read, whole in the memory of the process that reads it. */
export interface SourceFile {
  name: string
  mediaType: string
  bytes: Buffer
}

/** A longer text belongs into several documents: a hit tells where in a document it stands. */
export const MOST_CHARACTERS = 10_000_000
