import { composed, Flag, filledText, jsonText } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { Access, DocumentAccess } from './access.ts'
import { InCollection } from './collection.ts'
import { Filter, Metadata, MetadataPatch } from './metadata.ts'
import { PictureDescription } from './query.ts'

export const DocumentId = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'Identifier of the document.', examples: ['doc_0198c5f28f2e7c1b'] })

export const DocumentStatus = z.enum(['pending', 'processing', 'ready', 'failed']).meta({
  id: 'DocumentStatus',
  description:
    '`pending`: waiting for ingestion. `processing`: being ingested. `ready`: found by keyword search. `failed`: see `error`.',
})

export const DocumentError = z
  .object({
    code: z.string().describe('Stable code of the cause.'),
    message: z.string().describe('What failed and how to fix it.'),
  })
  .meta({
    id: 'DocumentError',
    description: 'Why ingestion or its last attempt failed; see docs/guides/ingestion.md.',
  })

const EmbeddingProgress = z
  .object({
    missing: z.int().describe('Chunks that have no embedding yet and are found by keywords only.'),
    seconds: z
      .int()
      .optional()
      .describe('Estimated maximum time until none are missing; absent if not known yet.'),
  })
  .optional()
  .describe('Progress of the embeddings; absent if search is lexical only.')

const DocumentFile = z
  .object({
    name: z.string().describe('Name of the uploaded file, without a path.'),
    mediaType: z.string().describe('Media type of the file.'),
    size: z.int().describe('Size in bytes.'),
    sha256: z.string().optional().describe('SHA-256 of its bytes, in hexadecimal.'),
  })
  .meta({ id: 'DocumentFile', description: 'The original file, if the document was sent as one.' })

export const DocumentWarning = z
  .object({
    code: z.string().describe('Stable code of the cause.'),
    message: z.string().describe('What could not be read.'),
  })
  .meta({
    id: 'DocumentWarning',
    description:
      'A part of the document that could not be read, by the server or by the embedding model.',
  })

export const DocumentSource = z
  .object({
    refresh: z.string().optional().describe('How often the URL is fetched, as requested.'),
    fetchedAt: z.iso.datetime().describe('When the URL was last requested.'),
    status: z.int().optional().describe('HTTP status of the response; absent if there was none.'),
    error: z
      .string()
      .optional()
      .describe('Why no new content was fetched; the document is unchanged.'),
    nextAt: z.iso.datetime().optional().describe('When the URL will be fetched again.'),
  })
  .meta({ id: 'DocumentSource', description: 'The last fetch of the document’s URL.' })

export const DocumentCreated = z
  .object({
    id: DocumentId,
    status: DocumentStatus,
    error: DocumentError.optional(),
    embeddings: EmbeddingProgress,
    sameFile: DocumentId.optional().describe(
      'Another document that has the same file, if one was uploaded and you may read it.',
    ),
  })
  .meta({
    id: 'DocumentCreated',
    examples: [{ id: 'doc_0198c5f28f2e7c1b', status: 'pending' }],
  })

/** Whether it can be found, by its embeddings too, or has failed. */
export const isSettled = ({ status, embeddings }: z.output<typeof DocumentCreated>) =>
  status === 'failed' || (status === 'ready' && !embeddings?.missing)

export const Document = z
  .object({
    id: DocumentId,
    title: z.string().optional().describe('Title of the document.'),
    url: z.string().optional().describe('URL of the original document.'),
    metadata: Metadata.optional(),
    conversation: z
      .string()
      .optional()
      .describe('The conversation that the document belongs to: only its questions find it.'),
    access: Access.optional().describe(
      'Who may read it besides the person who added it; absent if its collection says, and to those who may not change it.',
    ),
    creator: z
      .string()
      .optional()
      .describe(
        'The person who added it, as `user:<id>`; absent for an API key, and to those who may not change it.',
      ),
    file: DocumentFile.optional(),
    source: DocumentSource.optional().describe(
      'The last fetch, if the document was fetched from `url`. Not included in lists.',
    ),
    status: DocumentStatus,
    error: DocumentError.optional(),
    warnings: z
      .array(DocumentWarning)
      .optional()
      .describe(
        'Parts of the file that could not be read; the rest is searchable. `not_embedded`: passages that the embedding model refused, which only their words find; not included in lists.',
      ),
    page: z
      .int()
      .optional()
      .describe('While the file is being read, the number of scanned pages processed so far.'),
    attempts: z.int().describe('Number of ingestion attempts.'),
    revision: z
      .int()
      .describe('Revision of the content, starting at 1 and increasing with each replacement.'),
    servedRevision: z
      .int()
      .optional()
      .describe(
        'The revision that queries find; absent until the first is ready. If lower than `revision`, a replacement is in progress or has failed, and all fields except `status`, `error` and `attempts` describe the served revision.',
      ),
    chunks: z.int().describe('Number of chunks.'),
    embeddings: EmbeddingProgress,
    pictures: z
      .object({
        described: z.int().describe('Pictures that have a description.'),
        missing: z.int().describe('Pictures that wait for their descriptions.'),
        refused: z
          .int()
          .describe('Pictures that the chat model did not describe since the server started.'),
        reason: z.string().optional().describe('Why pictures wait, or why one was refused.'),
      })
      .optional()
      .describe(
        'Progress of the descriptions of its pictures; absent in lists, if it has none, or if PICTURE_DESCRIPTIONS is off.',
      ),
    characters: z
      .int()
      .describe('Length of the text in UTF-16 code units, the unit of every offset.'),
    createdAt: z.iso.datetime().describe('When the document was created.'),
    updatedAt: z.iso.datetime().describe('When the document was last changed.'),
  })
  .meta({ id: 'Document' })

const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Maximum number of results.'),
  cursor: z.string().min(1).max(200).optional().describe('The `nextCursor` of the previous page.'),
})

/** A filter as JSON in a query parameter; the request line bounds its length, too. */
const FilterParameter = jsonText(8_000, 'must be JSON').pipe(Filter)

/** Selects documents; every condition given must hold. */
const Selection = z.object({
  status: DocumentStatus.optional(),
  title: filledText(200)
    .overwrite(composed)
    .optional()
    .describe(
      'Text to find in the title or, if there is none, in the file name or id; case-insensitive.',
    ),
  collection: InCollection.optional(),
  mediaType: z
    .string()
    .max(200)
    .regex(/^[a-z0-9]+\/([a-z0-9.+-]+\*?|\*)$/, 'must be a media type, or its beginning and *')
    .optional()
    .describe('Media type of the file, such as `application/pdf` or `image/*`.'),
  sha256: z
    .string()
    .max(64)
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
    .optional()
    .describe('SHA-256 of the file: finds the documents created from exactly this file.'),
  filter: FilterParameter.optional().describe(
    'Only documents whose metadata match this filter: a JSON `Filter` as in `/query`.',
  ),
})

export const DocumentSort = z
  .enum([
    '-createdAt',
    'createdAt',
    '-updatedAt',
    'updatedAt',
    'title',
    '-title',
    'characters',
    '-characters',
  ])
  .meta({
    id: 'DocumentSort',
    description: 'Field to sort by, ascending; `-` sorts in descending order.',
  })

export const DocumentListQuery = PageQuery.extend({
  ...Selection.shape,
  conversation: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Only the documents of this conversation. If absent, those that belong to no conversation.',
    ),
  cursor: z.string().min(1).max(600).optional().describe('The `nextCursor` of the previous page.'),
  sort: DocumentSort.default('-createdAt').describe(
    'Field to sort by, ascending; `-` sorts in descending order.',
  ),
  total: Flag.default(false).describe('Whether to count the matching documents of all pages.'),
})

export const DocumentList = z
  .object({
    documents: z
      .array(Document)
      .describe('Documents in the order of `sort`; newest first by default.'),
    total: z
      .int()
      .optional()
      .describe('Total number of matching documents. Only with `total=true`.'),
    nextCursor: z
      .string()
      .optional()
      .describe('Send as `cursor` to get the next page; absent on the last page.'),
  })
  .meta({ id: 'DocumentList' })

const ExpectedFacts = z
  .strictObject({
    title: z.string().max(1_000).optional().describe('The title as you read it.'),
    metadata: MetadataPatch.optional().describe(
      'Metadata fields as you read them; null for a field that was absent.',
    ),
    access: Access.nullish().describe('`access` as you read it; null if there was none.'),
  })
  .describe(
    'Guards against concurrent edits: if any of these values has changed, nothing is saved and the response is 409 `edit_conflict`.',
  )

/** Changes to a document's facts: in its metadata, null removes a field, and fields not named stay as they are. */
export const DocumentPatch = z
  .strictObject({
    title: filledText(1_000)
      .overwrite(composed)
      .optional()
      .describe(
        'A new title. Because search finds words of titles, the same content is ingested again under it; until then, the previous title is returned. Only for a document that is `ready` and was not fetched from a URL; otherwise it is refused.',
      ),
    metadata: MetadataPatch.optional(),
    expected: ExpectedFacts.optional(),
    conversation: z
      .null()
      .optional()
      .describe(
        'Null takes the document out of its conversation, so that all questions find it and it stays when the conversation is deleted.',
      ),
    access: DocumentAccess,
  })
  .meta({
    id: 'DocumentPatch',
    examples: [{ metadata: { year: 2027, draft: null }, expected: { metadata: { year: 2026 } } }],
  })

export const DeletionQuery = Selection.extend({
  dryRun: Flag.default(false).describe('Only count the documents that would be deleted.'),
  confirm: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      'The number of documents to delete, as reported with `dryRun=true`. Required to delete documents.',
    ),
}).refine((query) => Object.keys(Selection.shape).some((name) => Reflect.get(query, name)), {
  path: ['filter'],
  message: 'is required, unless another condition selects the documents',
})

export const Deletion = z
  .object({
    matched: z.int().describe('Number of documents that match the selection.'),
    deleted: z.int().describe('Number of documents deleted by this request; 0 with `dryRun`.'),
  })
  .meta({ id: 'Deletion' })

export const DocumentParams = z.object({ id: DocumentId })

export const ChunkListQuery = PageQuery

const offset = z.coerce.number().int().min(0).optional()

export const TextQuery = z.object({
  start: offset.describe('Start offset in UTF-16 code units, as in hits. Default: 0.'),
  end: offset.describe('End offset (exclusive). Default: the end of the text.'),
})

export type TextQuery = z.output<typeof TextQuery>

export const RangeHeaders = z.looseObject({
  range: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Byte range such as `bytes=0-999`, applied to the part selected by `start` and `end`.',
    ),
})

const Chunk = z
  .object({
    id: z.string().describe('Chunk identifier, as in hits.'),
    text: z.string().describe('Chunk text.'),
    heading: z
      .string()
      .optional()
      .describe('Headings above the chunk, outermost first, joined by ` > `.'),
    start: z.int().describe('Start offset in the document, in UTF-16 code units.'),
    end: z.int().describe('End offset in the document (exclusive).'),
    page: z.int().optional().describe('Page or slide on which the chunk begins, from 1.'),
    pageEnd: z.int().optional().describe('Page or slide on which the chunk ends.'),
    pictureDescription: PictureDescription,
  })
  .meta({
    id: 'Chunk',
    description: 'A passage of a document; its fields have the same meaning as those of a hit.',
  })

export const ChunkList = z
  .object({
    chunks: z.array(Chunk).describe('Chunks in the order of the text.'),
    nextCursor: z
      .string()
      .optional()
      .describe(
        'Send as `cursor` to get the next page; absent on the last page. Becomes invalid when the document is replaced.',
      ),
  })
  .meta({ id: 'ChunkList' })

export type DocumentCreated = z.output<typeof DocumentCreated>
export type Document = z.output<typeof Document>
export type DocumentPatch = z.output<typeof DocumentPatch>
export type DeletionQuery = z.output<typeof DeletionQuery>
export type Deletion = z.output<typeof Deletion>
export type DocumentSort = z.output<typeof DocumentSort>
export type DocumentListQuery = z.output<typeof DocumentListQuery>
export type ChunkListQuery = z.output<typeof ChunkListQuery>
export type ChunkList = z.output<typeof ChunkList>
export type DocumentList = z.output<typeof DocumentList>
export type DocumentWarning = z.output<typeof DocumentWarning>
export type DocumentSource = z.output<typeof DocumentSource>
