/** What is known of the file that a document was sent as. */
export interface StoredFile {
  /** As the client named it, without a path. */
  name: string
  mediaType: string
  /** Bytes. */
  size: number
  /** What its reader has reported of it. */
  notes?: FileNotes
}

export interface FileNotes {
  /** How many pages that are pictures were begun; absent when it has been read. */
  page?: number
  warnings?: readonly { code: string; message: string }[]
}

/** The bytes of a file that no document has yet. */
interface StagedUpload {
  number: number
  /** Bytes. */
  size: number
}

/** A staged upload as the content of a document that is added or put. */
export interface NewFile extends StoredFile, Pick<StagedUpload, 'number'> {}

/** The originals of documents that were sent as files. They come and go in the transactions of their documents. */
export interface FileStore {
  /**
   * Keeps the bytes, piece by piece, for a document that `add` or `put` makes of them afterwards. Nothing is left of a
   * file whose `pieces` throw; one that no document ever took is gone after the next start. Resolves once
   * all is durable. Throws `storage_full`, `queue_full`, and what `pieces` throws.
   */
  stageFile(pieces: AsyncIterable<Uint8Array>): Promise<StagedUpload>
  /** Keeps these with the file of the claimed revision, instead of those before; does nothing if the claim is no longer current. */
  noteFile(job: { documentId: string; claim: number }, notes: FileNotes): Promise<void>
  /** Removes a file that no document has taken; does nothing otherwise. */
  dropStaged(number: number): Promise<void>
  /** The bytes of a file that no document has taken. */
  readStaged(number: number): AsyncIterable<Uint8Array>
  /**
   * The bytes of a document's file as it is served, or the newest before the first is; with `revision`, of
   * that one. Nothing where there is no such file. Reading one that is replaced or deleted meanwhile throws
   * `document_not_found`.
   */
  readFile(documentId: string, revision?: number): Promise<AsyncIterable<Uint8Array> | undefined>
}
