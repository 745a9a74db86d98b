import { AppError } from '../../errors.ts'
import type { FormPart } from '../../lib/form-part.ts'
import type { DocumentCreated } from '../../schemas/document.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { StoredFile } from '../../stores/file-store.ts'
import { newDocumentId, toCreated } from './document-answers.ts'
import { type ReceivedFile, receiveFile } from './receive-file.ts'

/** Each holds a piece or two in memory and waits for the disk in turn with all others. */
const MOST_UPLOADS = 16
const RETRY_SECONDS = 5

interface Dependencies {
  store: Pick<DocumentStore, 'add' | 'put' | 'get' | 'keepFile' | 'dropFile' | 'readFile'>
  /** Tells the ingestion that there is work. */
  wake: () => void
  /** The largest file, in bytes. */
  mostBytes: number
}

export interface Files {
  readonly mostBytes: number
  /**
   * As `Documents.create`, of the file in a form. Throws `invalid_request` and `too_many_uploads`, too, and
   * what `parts` throws; nothing is left then.
   */
  create(parts: AsyncIterable<FormPart>, idempotencyKey?: string): Promise<DocumentCreated>
  /** As `Documents.put`. Throws as `create`. */
  put(id: string, parts: AsyncIterable<FormPart>): Promise<DocumentCreated>
  /** The original of a document. Throws `document_not_found`, also where it was not sent as a file. */
  read(id: string): Promise<StoredFile & { pieces: AsyncIterable<Uint8Array> }>
}

/** What clients do with documents that are files. */
export function createFiles({ store, wake, mostBytes }: Dependencies): Files {
  let uploads = 0

  const receive = async <Output>(
    parts: AsyncIterable<FormPart>,
    take: (received: ReceivedFile) => Promise<Output>,
  ): Promise<Output> => {
    if (uploads >= MOST_UPLOADS) throw tooManyUploads()
    uploads++
    try {
      return await takeOrDrop(await receiveFile(parts, store), take)
    } finally {
      uploads--
    }
  }

  const takeOrDrop = async <Output>(
    received: ReceivedFile,
    take: (received: ReceivedFile) => Promise<Output>,
  ): Promise<Output> => {
    try {
      return await take(received)
    } catch (error) {
      await store.dropFile(received.file.number)
      throw error
    }
  }

  return {
    mostBytes,

    create: (parts, key) =>
      receive(parts, async ({ file, fields, digest }) => {
        const document = toNew(newDocumentId(), file, fields)
        const stored = await store.add(document, key === undefined ? undefined : { key, digest })
        wake()
        return toCreated(stored)
      }),

    put: (id, parts) =>
      receive(parts, async ({ file, fields }) => {
        const stored = await store.put(toNew(id, file, fields))
        wake()
        return toCreated(stored)
      }),

    async read(id) {
      const document = await store.get(id)
      const pieces = document?.file && (await store.readFile(id))
      if (!document?.file || !pieces) {
        const message = document
          ? `The document "${id}" was not sent as a file`
          : `There is no document "${id}"`
        throw new AppError('document_not_found', message, { param: 'id' })
      }
      return { ...document.file, pieces }
    },
  }
}

/** Without a title of its own a file goes by its name. */
function toNew(
  id: string,
  file: ReceivedFile['file'],
  { title = file.name, url, metadata }: ReceivedFile['fields'],
) {
  return { id, text: '', file, title, url, metadata }
}

function tooManyUploads(): AppError {
  return new AppError('too_many_uploads', 'Too many files are being sent at the same time', {
    retryAfter: RETRY_SECONDS,
  })
}
