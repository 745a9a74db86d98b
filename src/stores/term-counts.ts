/** How many chunks contain each term: of one document, or summed up, where removed documents count as negative. */
export interface TermCounts {
  chunks: number
  /** The total length of these chunks, in terms. */
  length: number
  /** Ascending and distinct. */
  terms: Uint32Array<ArrayBuffer>
  /** How many chunks contain each term, in the order of `terms`. */
  holding: Int32Array<ArrayBuffer>
}

interface TermEntry extends TermCounts {
  number: number
}

/** Term counts made with this analyser (`Analyser.fingerprint`). */
export interface CountedTerms extends TermCounts {
  analyser: string
}

export interface UncountedDocument {
  number: number
  id: string
  revision: number
}

/**
 * How many chunks contain each term, for an index that cannot tell. Counts are stored per document, and changed in the
 * transaction that serves or removes it. The sum of an analyser's entries covers all documents that were counted.
 */
export interface TermCountStore {
  /** The numbers of the entries; numbers are never reused. */
  entries(analyser: string): Promise<number[]>
  /** Entries that have been merged in the meantime are left out. */
  readEntries(numbers: readonly number[]): Promise<TermEntry[]>
  /** Replaces entries by their sum and returns its number; undefined if one of them is gone. */
  fold(numbers: readonly number[], sum: CountedTerms): Promise<number | undefined>
  /** Documents that are served but not counted, in ascending order of their numbers. */
  uncounted(analyser: string, after: number, limit: number): Promise<UncountedDocument[]>
  /** Counts a document, unless it is already counted or another revision of it is served by now. */
  count(document: Pick<UncountedDocument, 'id' | 'revision'>, counted: CountedTerms): Promise<void>
}

/** Terms and their counts as little-endian bytes; the counts take one byte each if all of them are within 0 to 255. */
export function packTerms({ terms, holding }: Pick<TermCounts, 'terms' | 'holding'>) {
  const isSmall = holding.every((count) => count >= 0 && count <= 255)
  return {
    terms: new Uint8Array(terms.buffer, terms.byteOffset, terms.byteLength),
    holding: isSmall
      ? Uint8Array.from(holding)
      : new Uint8Array(holding.buffer, holding.byteOffset, holding.byteLength),
  }
}

/** `sign` is -1 if the entry is of a removed document. */
export function unpackTerms(terms: Uint8Array, holding: Uint8Array, sign: number) {
  // Copied, because the bytes may start at any offset of their buffer.
  const unpacked = new Uint32Array(new Uint8Array(terms).buffer)
  const counts =
    holding.length === unpacked.length
      ? Int32Array.from(holding)
      : new Int32Array(new Uint8Array(holding).buffer)
  return { terms: unpacked, holding: sign < 0 ? counts.map((count) => -count) : counts }
}
