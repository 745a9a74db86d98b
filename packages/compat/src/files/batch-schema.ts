import { optional } from '@agent-server/lib/fields.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import { Metadata } from '@agent-server/schemas/metadata.ts'
import { VectorStoreId } from '@agent-server/wire'
import { z } from 'zod'
import { ChunkingStrategy, FileCounts, StoreFileInput, StoreFileListQuery } from './schema.ts'

/** Maximum files of one batch: all are read each time its progress is requested. */
const MAX_FILES = 200

const FileBatchId = z
  .string()
  .max(64)
  .regex(/^vsfb_[0-9a-f]{32}$/, 'must be a batch id')
  .describe('Identifier of the batch.')

const isGivenOnce = (ids: readonly string[]) => new Set(ids).size === ids.length

export const NewFileBatch = z
  .object({
    file_ids: optional(z.array(DocumentId).min(1).max(MAX_FILES)).describe(
      'Identifiers of documents.',
    ),
    files: optional(z.array(StoreFileInput).min(1).max(MAX_FILES)).describe(
      'Alternative to `file_ids` that gives each document its own attributes.',
    ),
    attributes: optional(Metadata).describe('Attributes of all documents in `file_ids`.'),
    chunking_strategy: ChunkingStrategy,
  })
  .refine(({ file_ids, files }) => (file_ids === undefined) !== (files === undefined), {
    path: ['file_ids'],
    message: 'is required, unless files is given',
  })
  .refine(({ files, attributes }) => files === undefined || attributes === undefined, {
    path: ['attributes'],
    message: 'cannot be combined with files: set the attributes of each file there',
  })
  .refine(({ file_ids = [] }) => isGivenOnce(file_ids), {
    path: ['file_ids'],
    message: 'must not contain a document twice',
  })
  .refine(({ files = [] }) => isGivenOnce(files.map(({ file_id }) => file_id)), {
    path: ['files'],
    message: 'must not contain a document twice',
  })
  .meta({ id: 'CreateFileBatch', examples: [{ file_ids: ['doc_0198c5f28f2e7c1b'] }] })

export const FileBatch = z
  .object({
    id: z.string().describe('Identifier of the batch.'),
    object: z.literal('vector_store.files_batch'),
    created_at: z.int().describe('When it was created, in seconds since 1970.'),
    vector_store_id: z.string().describe('Identifier of the vector store.'),
    status: z
      .enum(['in_progress', 'completed', 'cancelled', 'failed'])
      .describe('`cancelled` if a file was removed from the store, `failed` if all files failed.'),
    file_counts: FileCounts.extend({
      cancelled: z.int().describe('Files that are no longer in the store.'),
    }).describe('Number of files by status.'),
  })
  .meta({ id: 'FileBatch' })

export const FileBatchParams = z.object({ store: VectorStoreId, batch: FileBatchId })
export const FileBatchListQuery = StoreFileListQuery

export type NewFileBatch = z.output<typeof NewFileBatch>
export type FileBatch = z.output<typeof FileBatch>
