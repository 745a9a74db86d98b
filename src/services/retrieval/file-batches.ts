import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import { DocumentId } from '../../schemas/document.ts'
import { invalidRequest, refusal } from '../../schemas/invalid-request.ts'
import {
  type FileBatch,
  MAX_BATCH_ID,
  MAX_FILES,
  type NewFileBatch,
} from '../../schemas/openai/file-batch.ts'
import type {
  FileObject,
  StoreFile,
  StoreFileInput,
  StoreFileList,
  StoreFileListQuery,
} from '../../schemas/openai/vector-store.ts'

interface StoreFiles {
  /** Throws `document_not_found`. */
  file(id: string): Promise<FileObject>
  /** Returns undefined if the document is not in the store. */
  findFile(store: string, id: string): Promise<StoreFile | undefined>
  attach(store: string, file: StoreFileInput, signal: AbortSignal): Promise<StoreFile>
  detach(store: string, id: string, signal: AbortSignal): Promise<unknown>
}

/**
 * Batches of files that are added to a store together. Batches are not stored: a batch's id encodes its file ids, and
 * its status is derived from theirs. So every server can read a batch, and an API key learns nothing from it about
 * documents that it may not see.
 */
export function createFileBatches(files: StoreFiles) {
  const filesOf = (store: string, ids: readonly string[]) =>
    Promise.all(ids.map((id) => files.findFile(store, id)))

  const read = async (store: string, id: string): Promise<FileBatch> => {
    const { createdAt, ids } = decode(id)
    const counts = countOf(await filesOf(store, ids))
    return {
      ...{ id, object: 'vector_store.files_batch', created_at: createdAt },
      ...{ vector_store_id: store, status: statusOf(counts), file_counts: counts },
    }
  }

  return {
    read,
    /** Throws `document_not_found` before any file is added to the store. */
    async create(
      store: string,
      { file_ids = [], files: named, attributes }: NewFileBatch,
      signal: AbortSignal,
    ): Promise<FileBatch> {
      const inputs = named ?? file_ids.map((file_id) => ({ file_id, attributes }))
      const ids = inputs.map(({ file_id }) => file_id)
      const id = encode({ createdAt: Math.floor(Date.now() / 1_000), ids })
      if (id.length > MAX_BATCH_ID) {
        throw refusal(named ? 'files' : 'file_ids', 'have ids too long for one batch: send fewer')
      }
      await Promise.all(ids.map((each) => files.file(each)))
      for (const input of inputs) await files.attach(store, input, signal)
      return read(store, id)
    },
    /**
     * Lists the files in the order in which they were named, or in reverse. Throws `invalid_request` if `after` is not
     * a file of the batch.
     */
    async list(
      store: string,
      id: string,
      { order, after, limit, filter }: StoreFileListQuery,
    ): Promise<StoreFileList> {
      const { ids } = decode(id)
      const ordered = order === 'asc' ? ids : ids.toReversed()
      const begin = after === undefined ? 0 : ordered.indexOf(after) + 1
      if (after !== undefined && begin === 0) throw refusal('after', 'is no file of the batch')
      const found = await filesOf(store, ordered.slice(begin))
      const listed = found.filter((file) => file !== undefined)
      const asked = filter ? listed.filter(({ status }) => status === filter) : listed
      const data = asked.slice(0, limit)
      return {
        ...{ object: 'list', data, has_more: asked.length > limit },
        ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
      }
    },
    /** Removes the files that are still in progress from the store; the documents themselves stay. */
    async cancel(store: string, id: string, signal: AbortSignal): Promise<FileBatch> {
      const found = await filesOf(store, decode(id).ids)
      for (const file of found) {
        if (file?.status === 'in_progress') await files.detach(store, file.id, signal)
      }
      return read(store, id)
    },
  }
}

function countOf(found: readonly (StoreFile | undefined)[]) {
  const count = (status?: StoreFile['status']) =>
    found.filter((file) => file?.status === status).length
  return {
    ...{ in_progress: count('in_progress'), completed: count('completed') },
    ...{ failed: count('failed'), cancelled: count(), total: found.length },
  }
}

function statusOf(counts: FileBatch['file_counts']): FileBatch['status'] {
  if (counts.in_progress > 0) return 'in_progress'
  if (counts.cancelled > 0) return 'cancelled'
  return counts.failed === counts.total ? 'failed' : 'completed'
}

const PREFIX = 'vsfb_'
/** Maximum inflated size of a batch id, in bytes: far above any genuine id. Guards against decompression bombs. */
const MAX_SAID = 64 * 1_024
const Said = z.object({ createdAt: z.int(), ids: z.array(DocumentId).min(1).max(MAX_FILES) })

function encode(said: z.output<typeof Said>): string {
  return PREFIX + deflateRawSync(JSON.stringify(said)).toString('base64url')
}

function decode(id: string): z.output<typeof Said> {
  try {
    const bytes = Buffer.from(id.slice(PREFIX.length), 'base64url')
    const text = inflateRawSync(bytes, { maxOutputLength: MAX_SAID }).toString()
    return Said.parse(JSON.parse(text))
  } catch (error) {
    throw invalidRequest([{ field: 'batch', message: 'must be the id of a batch' }], error)
  }
}
