/** In how many chunks each term occurs: of a document, or summed up over many entries, where removed documents count as negative. */
export interface TermCounts {
  chunks: number
  /** Of all these chunks together, in terms. */
  length: number
  /** Ascending and distinct. */
  terms: Uint32Array<ArrayBuffer>
  /** Beside each term. */
  holding: Int32Array<ArrayBuffer>
}

interface TermEntry extends TermCounts {
  number: number
}

/** Counts of terms as this analyser (`Analyser.fingerprint`) makes them. */
export interface CountedTerms extends TermCounts {
  analyser: string
}

export interface UncountedDocument {
  number: number
  id: string
  revision: number
}

/**
 * How many chunks hold each term, for an index that cannot tell: kept for each document, and changed in the transaction
 * that serves or removes it. The sum of all entries of an analyser is that of all documents that were counted.
 */
export interface TermCountStore {
  /** The numbers of the entries, none of which is ever given out again. */
  entries(analyser: string): Promise<number[]>
  /** What has been folded meanwhile is left out. */
  readEntries(numbers: readonly number[]): Promise<TermEntry[]>
  /** Replaces entries by their sum, and answers its number; nothing where one of them is gone. */
  fold(numbers: readonly number[], sum: CountedTerms): Promise<number | undefined>
  /** Documents that are served and were not counted, in ascending order of their numbers. */
  uncounted(analyser: string, after: number, limit: number): Promise<UncountedDocument[]>
  /** Counts a document, unless another revision of it is served by now, or it is counted. */
  count(document: Pick<UncountedDocument, 'id' | 'revision'>, counted: CountedTerms): Promise<void>
}

/** Terms and what holds them as bytes, little-endian: the latter as one byte each where all are small and none is negative. */
export function packTerms({ terms, holding }: Pick<TermCounts, 'terms' | 'holding'>) {
  const isSmall = holding.every((count) => count >= 0 && count <= 255)
  return {
    terms: new Uint8Array(terms.buffer, terms.byteOffset, terms.byteLength),
    holding: isSmall
      ? Uint8Array.from(holding)
      : new Uint8Array(holding.buffer, holding.byteOffset, holding.byteLength),
  }
}

/** `sign` is -1 where the entry is of a removed document. */
export function unpackTerms(terms: Uint8Array, holding: Uint8Array, sign: number) {
  // Copied: the bytes may stand at any place of their buffer.
  const unpacked = new Uint32Array(new Uint8Array(terms).buffer)
  const counts =
    holding.length === unpacked.length
      ? Int32Array.from(holding)
      : new Int32Array(new Uint8Array(holding).buffer)
  return { terms: unpacked, holding: sign < 0 ? counts.map((count) => -count) : counts }
}
