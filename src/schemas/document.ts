import { z } from 'zod'
import { Flag, filledText, jsonText } from './fields.ts'
import { CollectionName, Filter, Metadata, MetadataPatch } from './metadata.ts'

export const DocumentId = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Identifier of the document.', examples: ['doc_0198c5f28f2e7c1b'] })

export const DocumentStatus = z.enum(['pending', 'processing', 'ready', 'failed']).meta({
  id: 'DocumentStatus',
  description:
    '`pending` waits, `processing` is being ingested, `ready` is found by its words by the very next query, `failed` carries `error`.',
})

export const DocumentError = z.object({ code: z.string(), message: z.string() }).meta({
  id: 'DocumentError',
  description: 'Why ingestion failed, or why its last attempt did; see docs/ingestion.md.',
})

const EmbeddingProgress = z
  .object({
    missing: z.int().describe('Chunks that words find and meaning does not find yet.'),
    seconds: z
      .int()
      .optional()
      .describe('About how long it takes at most until it does; absent until that is known.'),
  })
  .optional()
  .describe('How far the search by meaning is; absent where search goes by words alone.')

export const DocumentFile = z
  .object({
    name: z.string().describe('As it was sent, without a path.'),
    mediaType: z.string(),
    size: z.int().describe('In bytes.'),
  })
  .meta({ id: 'DocumentFile', description: 'What the document was sent as, if not as text.' })

export const DocumentWarning = z
  .object({ code: z.string(), message: z.string() })
  .meta({ id: 'DocumentWarning', description: 'What of the document could not be read.' })

export const DocumentSource = z
  .object({
    refresh: z.string().optional(),
    fetchedAt: z.iso.datetime().describe('When it was last asked for.'),
    status: z
      .int()
      .optional()
      .describe('The HTTP status of the answer; absent where there was none.'),
    error: z
      .string()
      .optional()
      .describe('Why there is nothing new; the document stays as it was.'),
    nextAt: z.iso.datetime().optional().describe('When it is fetched next.'),
  })
  .meta({ id: 'DocumentSource', description: 'The last fetch of the address in `url`.' })

export const DocumentCreated = z
  .object({
    id: DocumentId,
    status: DocumentStatus,
    error: DocumentError.optional(),
    meaning: EmbeddingProgress,
  })
  .meta({
    id: 'DocumentCreated',
    examples: [{ id: 'doc_0198c5f28f2e7c1b', status: 'pending' }],
  })

export const Document = z
  .object({
    id: DocumentId,
    title: z.string().optional(),
    url: z.string().optional(),
    metadata: Metadata.optional(),
    file: DocumentFile.optional(),
    source: DocumentSource.optional().describe(
      'Of a document that was fetched from `url`: what its last fetch answered. Lists are without it.',
    ),
    status: DocumentStatus,
    error: DocumentError.optional(),
    warnings: z
      .array(DocumentWarning)
      .optional()
      .describe('What of its file could not be read, where anything; the rest is found.'),
    page: z
      .int()
      .optional()
      .describe('How many pages that are pictures were begun, while its file is being read.'),
    attempts: z.int().describe('How often ingestion was begun.'),
    revision: z.int().describe('Grows by 1 with each replacement of the content, from 1.'),
    servedRevision: z
      .int()
      .optional()
      .describe(
        'The revision that queries find; absent before the first is ready. While it is below `revision`, a replacement is under way or has failed, and all else but `status`, `error` and `attempts` is of the served one.',
      ),
    chunks: z.int().describe('How many chunks the document was split into.'),
    meaning: EmbeddingProgress,
    characters: z
      .int()
      .describe('Length of the text in UTF-16 code units, the unit of every offset.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Document' })

const PageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .describe('How many to answer at most.'),
  cursor: z.string().min(1).max(200).optional().describe('`nextCursor` of the page before.'),
})

/** A filter as JSON in a query parameter; the request line bounds its length, too. */
const FilterParameter = jsonText(8_000, 'must be JSON').pipe(Filter)

/** Selects documents; every condition given must hold. */
const Selection = z.object({
  status: DocumentStatus.optional(),
  title: filledText(200)
    .optional()
    .describe(
      'Stands, whatever its case, in the title, or in what goes for it: the file’s name, or the id.',
    ),
  collection: CollectionName.optional(),
  filter: FilterParameter.optional().describe(
    'Only documents whose metadata it takes: a `Filter` as in `/query`, written as JSON.',
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
  .meta({ id: 'DocumentSort' })

export const DocumentListQuery = PageQuery.extend({
  ...Selection.shape,
  cursor: z.string().min(1).max(600).optional().describe('`nextCursor` of the page before.'),
  sort: DocumentSort.default('-createdAt').describe('`-` turns the order round.'),
  total: Flag.default(false).describe('Also tell how many documents there are on all pages.'),
})

export const DocumentList = z
  .object({
    documents: z.array(Document).describe('In the order of `sort`, newest first by itself.'),
    total: z.int().optional().describe('How many there are on all pages; with `total=true`.'),
    nextCursor: z
      .string()
      .optional()
      .describe('Hand it back as `cursor` to read on; absent on the last page.'),
  })
  .meta({ id: 'DocumentList' })

/** Changes to a document's metadata: null removes a field, fields not named stay as they are. */
export const DocumentPatch = z
  .strictObject({ metadata: MetadataPatch })
  .meta({ id: 'DocumentPatch', examples: [{ metadata: { year: 2027, draft: null } }] })

export const DeletionQuery = Selection.extend({
  dryRun: Flag.default(false).describe('Only count what would be deleted.'),
  confirm: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('How many documents are to go, as `dryRun=true` has told; needed to delete any.'),
}).refine(({ filter, title, status, collection }) => filter ?? title ?? status ?? collection, {
  path: ['filter'],
  message: 'is needed, or collection, title or status, to say which documents',
})

export const Deletion = z
  .object({
    matched: z.int().describe('How many documents were meant.'),
    deleted: z
      .int()
      .describe(
        'How many of them are gone: none with `dryRun`, and not those that somebody else had deleted.',
      ),
  })
  .meta({ id: 'Deletion' })

export const DocumentParams = z.object({ id: DocumentId })

export const ChunkListQuery = PageQuery

const offset = z.coerce.number().int().min(0).optional()

export const TextQuery = z.object({
  start: offset.describe('Where to begin, in UTF-16 code units, as in hits; 0 by itself.'),
  end: offset.describe('Where to end (exclusive); by itself the end of the text.'),
})

export type TextQuery = z.output<typeof TextQuery>

export const RangeHeaders = z.looseObject({
  range: z
    .string()
    .max(200)
    .optional()
    .describe('`bytes=0-999`: these bytes alone, of what `start` and `end` leave.'),
})

const Chunk = z
  .object({
    id: z.string().describe('Chunk identifier, as in hits.'),
    text: z.string(),
    heading: z.string().optional(),
    start: z.int(),
    end: z.int(),
    page: z.int().optional(),
    pageEnd: z.int().optional(),
  })
  .meta({ id: 'Chunk', description: 'A passage of a document; its fields are those of a hit.' })

export const ChunkList = z
  .object({
    chunks: z.array(Chunk).describe('In the order of the text.'),
    nextCursor: z
      .string()
      .optional()
      .describe(
        'Hand it back as `cursor` to read on; absent on the last page. Refused once the document was replaced.',
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
export type DocumentFile = z.output<typeof DocumentFile>
export type DocumentWarning = z.output<typeof DocumentWarning>
export type DocumentSource = z.output<typeof DocumentSource>
