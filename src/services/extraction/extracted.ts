/** What was read out of a file. */
export interface Extracted {
  /** Markdown where the file has headings, tables or lists; else plain text. */
  text: string
  /** Where each page begins in `text`, in UTF-16 code units; absent where the file has no pages. */
  pageStarts?: number[]
}

/** A file that is to be read, whole in the memory of the process that reads it. */
export interface SourceFile {
  name: string
  mediaType: string
  bytes: Buffer
}

/** A longer text would take more memory to split and index than one document may. */
export const MOST_CHARACTERS = 10_000_000
