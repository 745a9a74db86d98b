import { boundedText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { DocumentCreated, DocumentError, DocumentId, DocumentStatus } from './document.ts'
import { Metadata } from './metadata.ts'
import { ChosenId, IdempotencyKey, RefreshInterval, TextInput, WebAddress } from './new-document.ts'

/** Limits of an NDJSON stream, whose size BODY_LIMIT does not bound. */
export const LINES = {
  /** The longest line, in bytes. */
  bytes: 10_000_000,
  /** The most lines of one request, blank ones included. */
  count: 100_000,
  /** The most bytes of one request. */
  totalBytes: 1_000_000_000,
} as const

export const DocumentLine = TextInput.extend({
  id: optional(ChosenId).describe(
    'Creates or replaces the document with this id, as `PUT /documents/{id}` does, which makes retries safe.',
  ),
  idempotencyKey: optional(IdempotencyKey).describe(
    'Same as the header of `POST /documents`: a repeated key returns the document that was created first.',
  ),
})
  .refine(({ id, idempotencyKey }) => id === undefined || idempotencyKey === undefined, {
    path: ['idempotencyKey'],
    message: 'cannot be combined with id',
  })
  .meta({
    id: 'CreateDocumentItem',
    description: `A document in a list, or in a stream of JSON objects, one per line: at most ${LINES.count.toLocaleString('en')} lines of at most ${LINES.bytes.toLocaleString('en')} bytes each.`,
    examples: [{ id: 'owls', text: 'Owls hunt at night.' }],
  })

const line = z.int().min(1).describe('Line number in the request, from 1.')

const LineStored = DocumentCreated.extend({ line }).meta({
  id: 'LineStored',
  description: 'The document is durable; ingestion continues in the background.',
})

const LineRefused = z
  .object({
    line,
    error: z
      .object({
        code: z.string().describe('Stable error code, listed in docs/reference/errors.md.'),
        message: z.string().describe('What is wrong and how to fix it.'),
        param: boundedText(500).nullable().describe('Dotted path of the invalid field, or null.'),
      })
      .describe('Why the line was refused.'),
  })
  .meta({
    id: 'LineRefused',
    description: 'The line was refused; the other lines are not affected.',
  })

export const LineResult = z.union([LineStored, LineRefused]).meta({
  id: 'LineResult',
  description: 'One result per non-blank line, in the order of the request.',
})

export type DocumentLine = z.output<typeof DocumentLine>
export type LineResult = z.output<typeof LineResult>

const MAX_BATCH = 1_000

export const DocumentBatch = z
  .array(DocumentLine)
  .min(1)
  .max(MAX_BATCH)
  .superRefine(refuseTwins)
  .meta({
    id: 'CreateDocuments',
    description: `At most ${MAX_BATCH.toLocaleString('en')} documents; BODY_LIMIT also applies.`,
    examples: [[{ text: 'Owls hunt at night.' }, { id: 'herons', text: 'Herons wait.' }]],
  })

/** Limits of a form with several files. */
export const FILES = {
  count: 100,
  /** The size of one file, which is held in memory. */
  bytes: 1_000_000,
  /** The size of all files. */
  totalBytes: 20_000_000,
  /** The size of the fields before the files, which are held in memory. */
  fieldBytes: 2_000_000,
} as const

const BatchFailure = z
  .object({ error: DocumentError })
  .meta({ id: 'BatchFailure', description: 'The document was not stored; send it again.' })

export const DocumentBatchResult = z
  .object({
    results: z
      .array(z.union([DocumentCreated, BatchFailure]))
      .describe('One result per document, in the order of the request.'),
  })
  .meta({ id: 'DocumentBatchResult' })

/** Refuses two documents with the same id or key: a batch is stored in parallel, so neither would be the last. */
function refuseTwins(documents: readonly DocumentLine[], context: z.RefinementCtx): void {
  for (const name of ['id', 'idempotencyKey'] as const) {
    const seen = new Set<string>()
    for (const [place, { [name]: value }] of documents.entries()) {
      if (value === undefined) continue
      if (seen.has(value)) {
        context.addIssue({ code: 'custom', path: [place, name], message: 'must not occur twice' })
      }
      seen.add(value)
    }
  }
}

export type DocumentBatch = z.output<typeof DocumentBatch>
export type DocumentBatchResult = z.output<typeof DocumentBatchResult>

export const SiteInput = z
  .object({
    url: WebAddress.describe(
      'URL of the sitemap: XML or an XML sitemap index, optionally gzipped, or plain text with one URL per line.',
    ),
    limit: optionalOr(z.int().min(1).max(10_000), 1_000).describe(
      'Maximum number of pages to fetch.',
    ),
    refresh: optional(RefreshInterval),
    metadata: optional(Metadata),
    collection: TextInput.shape.collection,
    access: TextInput.shape.access,
  })
  .meta({ id: 'CreateSite', examples: [{ url: 'https://example.org/sitemap.xml', refresh: '1d' }] })

const page = z.int().min(1).describe('Page number, from 1.')
const url = z.string().describe('URL of the page.')

export const SiteLine = z
  .union([
    z.object({
      pages: z.int().describe('Number of pages that follow.'),
      left: z
        .int()
        .describe('Number of pages skipped because they are on other hosts or exceed `limit`.'),
    }),
    z.object({
      page,
      url,
      id: DocumentId,
      status: DocumentStatus,
      unchanged: z.boolean().describe('Whether the current content was already ingested.'),
    }),
    z.object({ page, url, error: DocumentError }),
  ])
  .meta({
    id: 'SiteLine',
    description: 'The first line has the number of pages; then one line follows for each.',
  })

export type SiteInput = z.output<typeof SiteInput>
export type SiteLine = z.output<typeof SiteLine>
