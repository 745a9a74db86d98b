import { z } from 'zod'
import { boundedText, jsonText } from './fields.ts'
import { CollectionName, DEFAULT_COLLECTION, Metadata } from './metadata.ts'

const MAX_METADATA = 65_536

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

/** The fields beside the file, all of them text. */
export const FileFields = z.object({
  title: boundedText(1_000)
    .optional()
    .describe('Title of the document; the name of the file where it has none.')
    .meta({ examples: ['Annual report'] }),
  url: boundedText(4_000)
    .optional()
    .describe('URL where the document originated.')
    .meta({ examples: ['https://example.org/report'] }),
  metadata: jsonText(MAX_METADATA, 'must be a JSON object')
    .pipe(Metadata)
    .optional()
    .describe('A JSON object: the flat facts about the document.'),
  collection: CollectionName.optional()
    .describe('The collection that the document belongs to.')
    .meta({ examples: [DEFAULT_COLLECTION] }),
})

/** The form as the contract shows it, filled in with its examples by `/reference`; what arrives is read part by part. */
export const DocumentForm = z
  .object({
    file: z.string().max(1_000_000_000).meta({
      format: 'binary',
      description: 'The bytes of the file, with its name. At most FILE_LIMIT.',
    }),
    title: FileFields.shape.title,
    url: FileFields.shape.url,
    collection: FileFields.shape.collection,
    metadata: z
      .string()
      .max(MAX_METADATA)
      .optional()
      .describe('A JSON object: the flat facts about the document, as `metadata` of NewDocument.')
      .meta({ examples: ['{"year": 2026}'] }),
  })
  .meta({
    id: 'NewDocumentFile',
    description: 'The parts may come in any order.',
    examples: [{ file: '%PDF-1.7 …', title: 'Annual report', metadata: '{"year": 2026}' }],
  })

export type DocumentWarning = z.output<typeof DocumentWarning>
export type DocumentFile = z.output<typeof DocumentFile>
export type FileFields = z.output<typeof FileFields>
