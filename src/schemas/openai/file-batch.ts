import { z } from 'zod'
import { DocumentId } from '../document.ts'
import { optional, unsupported } from '../fields.ts'
import { Metadata } from '../metadata.ts'
import { FileCounts, StoreFileInput, StoreFileListQuery, VectorStoreId } from './vector-store.ts'

/** Most files of one batch: all are read each time its progress is requested. */
export const MAX_FILES = 200
/** Most characters of a batch id, which lists its files. */
export const MAX_BATCH_ID = 8_000

export const FileBatchId = z
  .string()
  .max(MAX_BATCH_ID)
  .regex(/^vsfb_[\w-]+$/, 'must be the id of a batch')
  .describe('As the batch was answered.')

const isGivenOnce = (ids: readonly string[]) => new Set(ids).size === ids.length

export const NewFileBatch = z
  .object({
    file_ids: optional(z.array(DocumentId).min(1).max(MAX_FILES)).describe('Documents.'),
    files: optional(z.array(StoreFileInput).min(1).max(MAX_FILES)).describe(
      'In place of `file_ids`, where each document has attributes of its own.',
    ),
    attributes: optional(Metadata).describe('Of all of `file_ids`.'),
    chunking_strategy: unsupported('the server splits documents itself'),
  })
  .refine(({ file_ids, files }) => (file_ids === undefined) !== (files === undefined), {
    path: ['file_ids'],
    message: 'must be given, or files in its place',
  })
  .refine(({ files, attributes }) => files === undefined || attributes === undefined, {
    path: ['attributes'],
    message: 'must stand in each of files',
  })
  .refine(({ file_ids = [] }) => isGivenOnce(file_ids), {
    path: ['file_ids'],
    message: 'must name each document once',
  })
  .refine(({ files = [] }) => isGivenOnce(files.map(({ file_id }) => file_id)), {
    path: ['files'],
    message: 'must name each document once',
  })
  .meta({ id: 'NewFileBatch', examples: [{ file_ids: ['doc_0198c5f28f2e7c1b'] }] })

export const FileBatch = z
  .object({
    id: z.string().describe('Names the files, and so is as long as they are many.'),
    object: z.literal('vector_store.files_batch'),
    created_at: z.int(),
    vector_store_id: z.string(),
    status: z
      .enum(['in_progress', 'completed', 'cancelled', 'failed'])
      .describe('`cancelled` where a file has left the store, `failed` where all have failed.'),
    file_counts: FileCounts.extend({
      cancelled: z.int().describe('Files that are no longer in the store.'),
    }),
  })
  .meta({ id: 'FileBatch' })

export const FileBatchParams = z.object({ store: VectorStoreId, batch: FileBatchId })
export const FileBatchListQuery = StoreFileListQuery

export type NewFileBatch = z.output<typeof NewFileBatch>
export type FileBatch = z.output<typeof FileBatch>
