import { z } from 'zod'
import { DocumentCreated, DocumentError } from './document.ts'
import { DocumentLine } from './document-lines.ts'

const MAXIMUM_BATCH = 1_000

export const DocumentBatch = z
  .array(DocumentLine)
  .min(1)
  .max(MAXIMUM_BATCH)
  .superRefine(refuseTwins)
  .meta({
    id: 'NewDocuments',
    description: `At most ${MAXIMUM_BATCH} documents; BODY_LIMIT bounds them further.`,
    examples: [[{ text: 'Owls hunt at night.' }, { id: 'herons', text: 'Herons wait.' }]],
  })

const BatchFailure = z
  .object({ error: DocumentError })
  .meta({ id: 'BatchFailure', description: 'This one was not stored: send it again.' })

export const DocumentBatchResult = z
  .object({
    results: z
      .array(z.union([DocumentCreated, BatchFailure]))
      .meta({ description: 'One per document, in the order of the request.' }),
  })
  .meta({ id: 'DocumentBatchResult' })

/** Documents of a batch are stored side by side, so that of two with one id none would be the last. */
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
