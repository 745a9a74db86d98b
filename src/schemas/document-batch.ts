import { z } from 'zod'
import { DocumentCreated, DocumentError, DocumentId, DocumentStatus } from './document.ts'
import { boundedText, optional, optionalOr } from './fields.ts'
import { CollectionName, Metadata } from './metadata.ts'
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
    'As with `PUT /documents/{id}`: replaces the document with this id, or adds it. Makes it safe to send it again.',
  ),
  idempotencyKey: optional(IdempotencyKey).describe(
    'As the header of `POST /documents`: what comes with a known key answers the document that the first one made.',
  ),
})
  .refine(({ id, idempotencyKey }) => id === undefined || idempotencyKey === undefined, {
    path: ['idempotencyKey'],
    message: 'is of no use beside an id',
  })
  .meta({
    id: 'NewDocumentItem',
    description: `A document of a list, or of a stream with one per line, each a JSON object: at most ${LINES.count} lines of at most ${LINES.bytes} bytes.`,
    examples: [{ id: 'owls', text: 'Owls hunt at night.' }],
  })

const line = z.int().min(1).describe('Number of the line in the request, from 1.')

const LineStored = DocumentCreated.extend({ line }).meta({
  id: 'LineStored',
  description: 'This document is durable; ingestion goes on in the background.',
})

const LineRefused = z
  .object({
    line,
    error: z.object({ code: z.string(), message: z.string(), param: boundedText(500).nullable() }),
  })
  .meta({ id: 'LineRefused', description: 'This line changed nothing; the others count.' })

export const LineResult = z.union([LineStored, LineRefused]).meta({
  id: 'LineResult',
  description: 'One per line of the request that is not blank, in the order of the request.',
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
    id: 'NewDocuments',
    description: `At most ${MAX_BATCH} documents; BODY_LIMIT bounds them further.`,
    examples: [[{ text: 'Owls hunt at night.' }, { id: 'herons', text: 'Herons wait.' }]],
  })

const BatchFailure = z
  .object({ error: DocumentError })
  .meta({ id: 'BatchFailure', description: 'This one was not stored: send it again.' })

export const DocumentBatchResult = z
  .object({
    results: z
      .array(z.union([DocumentCreated, BatchFailure]))
      .describe('One per document, in the order of the request.'),
  })
  .meta({ id: 'DocumentBatchResult' })

/** Refuses two documents with the same id or key: a batch is stored in parallel, so neither would be the last. */
function refuseTwins(documents: readonly DocumentLine[], context: z.RefinementCtx): void {
  for (const name of ['id', 'idempotencyKey'] as const) {
    const seen = new Set<string>()
    for (const [place, { [name]: value }] of documents.entries()) {
      if (value === undefined) continue
      if (seen.has(value)) {
        context.addIssue({ code: 'custom', path: [place, name], message: 'comes twice' })
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
      'Address of the sitemap: XML, an index of them, either packed with gzip, or one address a line.',
    ),
    limit: optionalOr(z.int().min(1).max(10_000), 1_000).describe(
      'The most pages that are fetched.',
    ),
    refresh: optional(RefreshInterval),
    metadata: optional(Metadata),
    collection: optional(CollectionName),
  })
  .meta({ id: 'NewSite', examples: [{ url: 'https://example.org/sitemap.xml', refresh: '1d' }] })

const page = z.int().min(1).describe('Number of the page, from 1.')
const url = z.string().describe('Its address.')

export const SiteLine = z
  .union([
    z.object({
      pages: z.int().describe('How many pages follow.'),
      left: z.int().describe('Pages that are on other hosts, or beyond `limit`.'),
    }),
    z.object({
      ...{ page, url },
      id: DocumentId,
      status: DocumentStatus,
      unchanged: z.boolean().describe('Whether it is ingested as it is now.'),
    }),
    z.object({ page, url, error: DocumentError }),
  ])
  .meta({ id: 'SiteLine', description: 'First how many pages there are, then one line for each.' })

export type SiteInput = z.output<typeof SiteInput>
export type SiteLine = z.output<typeof SiteLine>
