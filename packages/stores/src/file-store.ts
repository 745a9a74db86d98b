import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'

/** The properties of the file that a document was sent as. */
export interface StoredFile {
  /** The client's name for it, without a path. */
  name: string
  mediaType: string
  /** Bytes. */
  size: number
  /** Digest of its bytes, in hexadecimal; absent in files stored before digests were kept. */
  sha256?: string | undefined
  /** What was reported while it was read. */
  notes?: FileNotes
}

export interface FileNotes {
  /** How many pages that are images have been started; absent once the file has been read. */
  page?: number
  /** How many tables its text has; absent if none. */
  tables?: number
  warnings?: readonly { code: string; message: string }[]
}

/** A stored file is not as it was sent. Trying again does not help. */
export class DamagedFile extends AppError {
  constructor(file: number) {
    super(
      'store_unavailable',
      `The stored file ${file} is not as it was sent (damaged on the disk): restore the database from a backup, or send the document again`,
    )
  }
}

/** Removes a staged file that is not wanted; one that cannot be removed now is removed at a later start. */
export async function discard(store: Pick<FileStore, 'dropStaged'>, number: number): Promise<void> {
  await ignore(store.dropStaged(number), 'a later start removes it')
}

/** A file that belongs to no document yet. */
interface StagedUpload {
  number: number
  /** Bytes. */
  size: number
}

/** A staged upload as the content of a new or replaced document. */
export interface NewFile extends StoredFile, Pick<StagedUpload, 'number'> {}

/** The originals of documents sent as files, added and removed in their documents' transactions. */
export interface FileStore {
  /**
   * Stores the bytes, piece by piece, in turn with those of other API keys, for a document that `add` or `put` creates
   * from them afterwards. If `pieces` throws, nothing is kept; a file that no document ever took is removed at a later
   * start. Resolves once everything is durable. Throws `storage_full`, `queue_full`, and what `pieces` throws.
   */
  stageFile(pieces: AsyncIterable<Uint8Array>, sender?: string): Promise<StagedUpload>
  /** Replaces the notes on the file of the claimed revision; does nothing if the claim is no longer current. */
  noteFile(job: { documentId: string; claim: number }, notes: FileNotes): Promise<void>
  /** Removes a file that no document has taken; does nothing otherwise. */
  dropStaged(number: number): Promise<void>
  /** The bytes of a file that no document has taken. */
  readStaged(number: number): AsyncIterable<Uint8Array>
  /**
   * The bytes of a document's file: of `revision`, or else of the served revision, or of the newest if none is served
   * yet. Returns undefined if there is no such file. Reading throws `document_not_found` if the file is replaced or
   * deleted meanwhile.
   */
  readFile(
    visibility: Visibility,
    documentId: string,
    revision?: number,
  ): Promise<AsyncIterable<Uint8Array> | undefined>
}
