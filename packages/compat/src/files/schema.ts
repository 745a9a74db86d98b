import {
  boundedText,
  filledText,
  optional,
  optionalOr,
  unsupported,
} from '@agent-server/lib/fields.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import { Metadata } from '@agent-server/schemas/metadata.ts'
import { DocumentForm } from '@agent-server/schemas/new-document.ts'
import { Hit } from '@agent-server/schemas/query.ts'
import { AttributeFilter, listOf, RankingOptions, VectorStoreId } from '@agent-server/wire'
import { z } from 'zod'

// Shapes of OpenAI's file search: https://github.com/openai/openai-openapi.

export const FileCounts = z.object({
  in_progress: z.int().describe('Files waiting for ingestion, or being ingested.'),
  completed: z.int().describe('Files that are searchable.'),
  failed: z.int().describe('Files whose ingestion failed.'),
  cancelled: z.int().describe('Always 0.'),
  total: z.int().describe('All files.'),
})

/** A collection, or the whole corpus, as a vector store. */
export const VectorStore = z
  .object({
    id: z.string().describe('Identifier of the vector store.'),
    object: z.literal('vector_store'),
    name: z
      .string()
      .describe('Name of the store: that of its collection, until it is given another.'),
    created_at: z
      .int()
      .describe('When the oldest document was created; the current time if there is none.'),
    last_active_at: z.null().describe('Always null.'),
    metadata: z.object({}).describe('Always empty: a store has no metadata of its own.'),
    status: z
      .enum(['in_progress', 'completed'])
      .describe('`in_progress` while files are being ingested.'),
    usage_bytes: z.int().describe('Not known; always 0.'),
    file_counts: FileCounts.describe('Number of files by status.'),
  })
  .meta({ id: 'VectorStore' })

export const VectorStoreList = listOf(VectorStore).meta({ id: 'VectorStoreList' })

export const VectorStoreListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(100).describe('Maximum number of stores.'),
  after: VectorStoreId.optional().describe('The last store of the previous page.'),
})

export const ChunkingStrategy = z
  .object({
    type: z
      .literal('auto', 'is not supported: the server splits documents itself, which is `auto`')
      .describe('Only `auto` is supported: the server splits documents itself.'),
  })
  .nullish()
  .describe('How documents are split.')

const StoreName = optional(boundedText(256)).describe(
  'A name for people; if it can be that of a collection, a new store is that collection.',
)

export const NewVectorStore = z
  .object({
    name: StoreName,
    file_ids: optional(z.array(DocumentId).max(100)).describe('Documents to add.'),
    expires_after: unsupported('documents are kept until they are deleted'),
    chunking_strategy: ChunkingStrategy,
  })
  .meta({ id: 'CreateVectorStore', examples: [{ name: 'handbook' }] })

export const VectorStoreUpdate = z
  .object({
    name: StoreName,
    metadata: z
      .strictObject({}, 'must be empty: a store has no metadata of its own, its files have')
      .nullish()
      .describe('Must be empty: a store has no metadata of its own.'),
    expires_after: unsupported('documents are kept until they are deleted'),
  })
  .meta({ id: 'VectorStoreUpdate', examples: [{ name: 'handbook-2026' }] })

export const StoreSearch = z
  .object({
    query: z
      .union([filledText(10_000), z.array(filledText(10_000)).min(1).max(1)], {
        error: 'must be a text or a list of one text',
      })
      .describe('The question or text to search for.'),
    max_num_results: optionalOr(z.int().min(1).max(50), 10).describe('Maximum number of passages.'),
    filters: AttributeFilter.nullish().describe(
      'Filter on attributes, which are the metadata of documents.',
    ),
    ranking_options: RankingOptions.nullish().describe('How passages are ranked.'),
    rewrite_query: z
      .literal(false, 'is not supported: the query is used unchanged')
      .nullish()
      .describe('Only false is supported: the query is used unchanged.'),
  })
  .meta({ id: 'VectorStoreSearch', examples: [{ query: 'When does the library open?' }] })

export const StoreSearchResults = z
  .object({
    object: z.literal('vector_store.search_results.page'),
    search_query: z.array(z.string()).describe('The query, unchanged.'),
    data: z
      .array(
        z.object({
          file_id: z.string().describe('Identifier of the document.'),
          filename: z.string().describe('Title of the document, or its id.'),
          score: Hit.shape.score,
          attributes: Metadata,
          content: z
            .array(
              z.object({
                type: z.literal('text'),
                text: z.string().describe('Text of the passage.'),
              }),
            )
            .describe('The passage: always one part.'),
          start: z.int().describe('Start offset of the passage in the document.'),
          end: z.int().describe('End offset of the passage (exclusive).'),
        }),
      )
      .describe('The passages, best first.'),
    has_more: z.literal(false),
    next_page: z.null().describe('Always null.'),
  })
  .meta({ id: 'VectorStoreSearchResults' })

export const StoreFileInput = z
  .object({
    file_id: DocumentId,
    attributes: optional(Metadata),
    chunking_strategy: ChunkingStrategy,
  })
  .meta({ id: 'CreateVectorStoreFile', examples: [{ file_id: 'doc_0198c5f28f2e7c1b' }] })

const LAST_ERROR = z
  .object({
    code: z.string().describe('Stable code of the cause.'),
    message: z.string().describe('What failed and how to fix it.'),
  })
  .nullable()

export const StoreFile = z
  .object({
    id: z.string().describe('Identifier of the document.'),
    object: z.literal('vector_store.file'),
    created_at: z.int().describe('When the document was created, in seconds since 1970.'),
    vector_store_id: z.string().describe('Identifier of the vector store.'),
    status: z
      .enum(['in_progress', 'completed', 'failed'])
      .describe('`completed`: the file is searchable.'),
    last_error: LAST_ERROR.describe('Why ingestion failed; null if it did not.'),
    usage_bytes: z
      .int()
      .describe('Size of the file in bytes, or length of the text if there is no file.'),
    attributes: Metadata,
  })
  .meta({ id: 'VectorStoreFile' })

export const FileObject = z
  .object({
    id: z.string().describe('Identifier of the document.'),
    object: z.literal('file'),
    bytes: z
      .int()
      .describe('Size of the file in bytes, or length of the text if there is no file.'),
    created_at: z.int().describe('When the document was created, in seconds since 1970.'),
    filename: z.string().describe('Name of the file, or the title of the document.'),
    purpose: z.literal('assistants'),
    status: z
      .enum(['uploaded', 'processed', 'error'])
      .describe(
        '`processed`: the file is searchable. `error`: ingestion failed, see `status_details`.',
      ),
    status_details: z.string().optional().describe('Why ingestion failed.'),
  })
  .meta({ id: 'FileObject', description: 'A document as a file, however it was sent.' })

/** The upload must be a form; JSON is refused with the message of `NotForm`. */
export const FileForm = z
  .object({
    file: DocumentForm.shape.file,
    purpose: z.string().max(64).optional().describe('Has no effect.'),
  })
  .meta({ id: 'CreateFile', examples: [{ file: '%PDF-1.7 …', purpose: 'assistants' }] })
export const NotForm = z.never('must be sent as multipart/form-data')

const OrderedPage = z.object({
  order: z.enum(['asc', 'desc']).default('desc').describe('Order by creation time.'),
  after: DocumentId.optional().describe('The last file of the previous page.'),
})
const MAX_LISTED_FILES = 1_000

export const FileListQuery = OrderedPage.extend({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(MAX_LISTED_FILES)
    .transform((limit) => Math.min(limit, MAX_LISTED_FILES))
    .describe('Maximum number of files; a page has at most 1,000.'),
  purpose: z.string().max(64).optional().describe('All files have the purpose `assistants`.'),
})

export const StoreFileListQuery = OrderedPage.extend({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Maximum number of files.'),
  filter: z
    .enum(['in_progress', 'completed', 'failed', 'cancelled'])
    .optional()
    .describe('Only files with this status.'),
})

export const FileList = listOf(FileObject).meta({ id: 'FileList' })
export const StoreFileList = listOf(StoreFile).meta({ id: 'VectorStoreFileList' })

/** UTF-16 code units of a document's text in one page. */
export const MAX_CONTENT = 1_000_000

export const StoreFileContent = z
  .object({
    object: z.literal('vector_store.file_content.page'),
    data: z
      .array(z.object({ type: z.literal('text'), text: z.string().describe('Text of this page.') }))
      .describe('The text of the document.'),
    has_more: z.boolean().describe('Whether there is more text.'),
    next_page: z.string().nullable().describe('Send as `page` to get the rest of a long text.'),
  })
  .meta({ id: 'VectorStoreFileContent' })

export const StoreFileContentQuery = z.object({
  page: z.coerce.number().int().min(0).default(0).describe('From `next_page`.'),
})

export const StoreFileUpdate = z
  .object({
    attributes: Metadata.describe(
      'Added to the metadata of the document; existing fields of the same names are replaced.',
    ),
  })
  .meta({ id: 'VectorStoreFileUpdate', examples: [{ attributes: { year: 2026 } }] })

export const Removed = z
  .object({
    id: z.string().describe('Identifier of what was removed.'),
    object: z.string().describe('Kind of what was removed.'),
    deleted: z.literal(true),
  })
  .meta({ id: 'Removed' })

export const StoreParams = z.object({ store: VectorStoreId })
export const StoreFileParams = z.object({ store: VectorStoreId, id: DocumentId })

export type VectorStoreList = z.output<typeof VectorStoreList>
export type VectorStoreListQuery = z.output<typeof VectorStoreListQuery>
export type VectorStore = z.output<typeof VectorStore>
export type NewVectorStore = z.output<typeof NewVectorStore>
export type VectorStoreUpdate = z.output<typeof VectorStoreUpdate>
export type StoreSearch = z.output<typeof StoreSearch>
export type StoreSearchResults = z.output<typeof StoreSearchResults>
export type StoreFileInput = z.output<typeof StoreFileInput>
export type StoreFile = z.output<typeof StoreFile>
export type StoreFileContent = z.output<typeof StoreFileContent>
export type FileObject = z.output<typeof FileObject>
export type FileListQuery = z.output<typeof FileListQuery>
export type FileList = z.output<typeof FileList>
export type StoreFileListQuery = z.output<typeof StoreFileListQuery>
export type StoreFileList = z.output<typeof StoreFileList>
