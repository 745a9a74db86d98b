import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { toStorable } from '@agent-server/lib/fields.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { mediaTypeOfUpload, refusedKindOf } from '@agent-server/readers'
import type { FolderToWatch } from '@agent-server/schemas/operator/watch.ts'
import { type DocumentStore, discard, type StoredDocument } from '@agent-server/stores'
import type { AllDocuments } from '../ingestion/documents.ts'
import { hashed } from '../ingestion/uploads.ts'
import { DIGEST, digestOf, documentIdOf, FOLDER, PATH } from './folder-documents.ts'
import { stampOf } from './walk-folder.ts'

/** The longest path that its document's metadata can hold. */
const MAX_PATH = 500
/** At least as long as the longest signature; a file of zeros is longer than that. */
const START_BYTES = 512
/** In the queue for ingestion, watched folders take turns with the API keys. */
const SENDER = 'watched-folder'
/** A link that takes the file's place is not followed, and a pipe not waited for. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Errors of opening a file that was deleted or replaced by a link. */
const CHANGED = ['ENOENT', 'ENOTDIR', 'ELOOP']

interface Dependencies {
  store: Pick<DocumentStore, 'get' | 'stageFile' | 'dropStaged'>
  documents: Pick<AllDocuments, 'put'>
  folder: FolderToWatch
  /** Where the folder is. */
  root: string
  maxBytes: number
}

/**
 * `changed`: the file is no longer as it was seen. `later`: an earlier change is still being ingested. An object: the
 * file cannot be a document as it is.
 */
export type Outcome = 'taken' | 'unchanged' | 'changed' | 'later' | { refusal: string }

/** An open file, as the scan saw it. */
interface OpenFile {
  path: string
  stamp: string
  size: number
  handle: FileHandle
}

/** Makes documents of files. */
export function createTakeFile({ store, documents, folder, root, maxBytes }: Dependencies) {
  const refusalOf = async ({ path, size, handle }: OpenFile) => {
    if (path.length > MAX_PATH) return `has a path of more than ${MAX_PATH} characters`
    if (size > maxBytes) return `is larger than FILE_LIMIT, which is ${maxBytes} bytes`
    return kindNotRead(handle)
  }

  const isStored = async (file: OpenFile, document: StoredDocument, signal: AbortSignal) => {
    const { [DIGEST]: digest } = document.metadata ?? {}
    if (digest === undefined) return false
    const content = createHash('sha256')
    for await (const piece of piecesOf(file, signal)) content.update(piece)
    return digestOf(content, folder) === digest
  }

  const put = async (file: OpenFile, document: StoredDocument | undefined, signal: AbortSignal) => {
    const { path, stamp, handle } = file
    const content = createHash('sha256')
    const staged = await store.stageFile(hashed(piecesOf(file, signal), content))
    try {
      const isStill = stampOf(await handle.stat()) === stamp
      if (isStill) await documents.put(everything(), documentIdOf(folder.path, path), contentOf())
      else await store.dropStaged(staged.number)
      return isStill ? 'taken' : 'changed'
    } catch (error) {
      await discard(store, staged.number)
      throw error
    }

    function contentOf() {
      const name = toStorable(posix.basename(path))
      const sha256 = content.copy().digest('hex')
      const fields = { [FOLDER]: folder.path, [PATH]: path, [DIGEST]: digestOf(content, folder) }
      return {
        text: '',
        file: { ...staged, sha256, name, mediaType: mediaTypeOfUpload(name, undefined) },
        title: name,
        // What others have added to the metadata stays; the collection too, unless the folder has one.
        metadata: { ...document?.metadata, ...fields },
        collection: folder.collection ?? document?.collection,
        access: folder.access,
        sender: SENDER,
      }
    }
  }

  const take = async (file: OpenFile, signal: AbortSignal): Promise<Outcome> => {
    const refusal = await refusalOf(file)
    if (refusal !== undefined) return { refusal }
    const document = await store.get(everything(), documentIdOf(folder.path, file.path))
    if (document && isBeingReplaced(document)) return 'later'
    if (document && (await isStored(file, document, signal))) return 'unchanged'
    return put(file, document, signal)
  }

  /** Throws the errors of reading the file, those of storing it, and the reason of `signal`. */
  return async (path: string, stamp: string, signal: AbortSignal): Promise<Outcome> => {
    const handle = await openUnlessChanged(join(root, path))
    if (!handle) return 'changed'
    try {
      const state = await handle.stat()
      if (!state.isFile() || stampOf(state) !== stamp) return 'changed'
      return await take({ path, stamp, size: state.size, handle }, signal)
    } finally {
      await handle.close()
    }
  }
}

async function openUnlessChanged(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, FLAGS)
  } catch (error) {
    if (CHANGED.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Its metadata are still those of the served revision, and do not tell what the next one is made of. */
function isBeingReplaced({ status, revision, servedRevision }: StoredDocument): boolean {
  const isOpen = status === 'pending' || status === 'processing'
  return isOpen && servedRevision !== undefined && servedRevision < revision
}

/** The bytes of a file as far as it reached when it was seen. */
function piecesOf({ handle, size }: OpenFile, signal: AbortSignal): AsyncIterable<Uint8Array> {
  // A stream that begins aborted emits its error before anybody reads it.
  signal.throwIfAborted()
  return handle.createReadStream({ start: 0, end: size - 1, autoClose: false, signal })
}

/** What a file is that cannot be read, as its first bytes show. Ingesting it would only make a failed document. */
async function kindNotRead(handle: FileHandle): Promise<string | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
  const start = buffer.subarray(0, bytesRead)
  if (bytesRead < START_BYTES && start.toString('latin1').trim() === '') return 'is empty'
  // WebP is an image in a container also used for sound and video.
  if (start.toString('latin1', 8, 12) === 'WEBP') return undefined
  const kind = refusedKindOf(start)
  return kind && `cannot be read: it is ${kind}`
}
