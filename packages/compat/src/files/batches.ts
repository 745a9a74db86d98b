import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { toList } from '@agent-server/wire'
import { z } from 'zod'
import type { Records } from '../services.ts'
import type { FileBatch, NewFileBatch } from './batch-schema.ts'
import type {
  FileObject,
  StoreFile,
  StoreFileInput,
  StoreFileList,
  StoreFileListQuery,
} from './schema.ts'

interface StoreFiles {
  /** Throws `document_not_found`. */
  file(id: string): Promise<FileObject>
  /** Returns undefined if the document is not in the store. */
  findFile(store: string, id: string): Promise<StoreFile | undefined>
  attach(store: string, file: StoreFileInput, signal: AbortSignal): Promise<StoreFile>
  detach(store: string, id: string, signal: AbortSignal): Promise<unknown>
}

/** The stored form of a batch. Its status is derived from those of its files. */
const StoredBatch = z.object({
  store: z.string(),
  createdAt: z.int(),
  ids: z.array(z.string()),
})

interface Dependencies {
  files: StoreFiles
  /** Keeps the batches, for as long as responses. */
  records: Records
  /** The id of the caller's key; undefined for the master key. */
  owner: string | undefined
}

/** Batches of files that are added to a store together. Each key sees only its own. */
export function createFileBatches({ files, records, owner }: Dependencies) {
  const filesOf = (store: string, ids: readonly string[]) =>
    Promise.all(ids.map((id) => files.findFile(store, id)))

  /** Throws `batch_not_found`. */
  const find = async (store: string, id: string) => {
    const record = await records.read(id, owner)
    const batch = record && StoredBatch.parse(JSON.parse(Buffer.from(record.bytes).toString()))
    if (batch?.store === store) return batch
    const message = `The store "${store}" has no batch "${id}", or it has expired`
    throw new AppError('batch_not_found', message, { param: 'batch' })
  }

  const read = async (store: string, id: string): Promise<FileBatch> => {
    const { createdAt, ids } = await find(store, id)
    const counts = countOf(await filesOf(store, ids))
    return {
      id,
      object: 'vector_store.files_batch',
      created_at: createdAt,
      vector_store_id: store,
      status: statusOf(counts),
      file_counts: counts,
    }
  }

  return {
    /** Throws `batch_not_found`. */
    read,
    /** Throws `document_not_found` before any file is added to the store, and `storage_full`. */
    async create(
      store: string,
      { file_ids = [], files: fileInputs, attributes }: NewFileBatch,
      signal: AbortSignal,
    ): Promise<FileBatch> {
      const inputs = fileInputs ?? file_ids.map((file_id) => ({ file_id, attributes }))
      const ids = inputs.map(({ file_id }) => file_id)
      await Promise.all(ids.map((each) => files.file(each)))
      const batch = { store, createdAt: Math.floor(Date.now() / 1_000), ids }
      const { id } = await records.add({
        id: newId('vsfb'),
        name: 'batch',
        mediaType: 'application/json',
        bytes: Buffer.from(JSON.stringify(batch)),
        owner,
      })
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
      const { ids } = await find(store, id)
      const ordered = order === 'asc' ? ids : ids.toReversed()
      const begin = after === undefined ? 0 : ordered.indexOf(after) + 1
      if (after !== undefined && begin === 0) throw refusal('after', 'is not a file of the batch')
      const remaining = await filesOf(store, ordered.slice(begin))
      const existing = remaining.filter((file) => file !== undefined)
      const matches = filter ? existing.filter(({ status }) => status === filter) : existing
      return toList(matches.slice(0, limit), matches.length > limit)
    },
    /** Removes the files that are still in progress from the store; the documents themselves stay. */
    async cancel(store: string, id: string, signal: AbortSignal): Promise<FileBatch> {
      const { ids } = await find(store, id)
      for (const file of await filesOf(store, ids)) {
        if (file?.status === 'in_progress') await files.detach(store, file.id, signal)
      }
      return read(store, id)
    },
  }
}

function countOf(files: readonly (StoreFile | undefined)[]) {
  const count = (status?: StoreFile['status']) =>
    files.filter((file) => file?.status === status).length
  return {
    in_progress: count('in_progress'),
    completed: count('completed'),
    failed: count('failed'),
    cancelled: count(),
    total: files.length,
  }
}

function statusOf(counts: FileBatch['file_counts']): FileBatch['status'] {
  if (counts.in_progress > 0) return 'in_progress'
  if (counts.cancelled > 0) return 'cancelled'
  return counts.failed === counts.total ? 'failed' : 'completed'
}
