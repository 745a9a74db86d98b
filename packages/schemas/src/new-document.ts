import {
  boundedText,
  composed,
  filledText,
  jsonText,
  optional,
  toStorable,
} from '@agent-server/lib/fields.ts'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { z } from 'zod'
import { DocumentAccess } from './access.ts'
import { CollectionName } from './collection.ts'
import { Metadata } from './metadata.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const MIN_INTERVAL_MS = 5 * UNITS.m
const MAX_INTERVAL_MS = 366 * UNITS.d

/** The milliseconds of an interval such as `1d`; NaN if it is not one. */
export function intervalMs(interval: string): number {
  const { count, unit = '' } = /^(?<count>\d{1,4})(?<unit>[mhdw])$/.exec(interval)?.groups ?? {}
  return Number(count) * (new Map<string, number>(Object.entries(UNITS)).get(unit) ?? Number.NaN)
}

export const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .max(4_000)
  .overwrite(toStorable)

export const RefreshInterval = z
  .string()
  .max(5)
  .refine(
    (interval) => {
      const milliseconds = intervalMs(interval)
      return milliseconds >= MIN_INTERVAL_MS && milliseconds <= MAX_INTERVAL_MS
    },
    {
      error:
        'must be a number of minutes, hours, days or weeks such as 30m, 12h, 1d or 2w, from 5m to 366d',
    },
  )
  .meta({
    description: 'How often to fetch the page again, for example `1d`. If absent, only on request.',
    examples: ['1d'],
  })

const ConversationId = z
  .string()
  .min(1)
  .max(64)
  .meta({ examples: ['conv_0198c5f28f2e7c1b'] })
  .describe(
    'A stored conversation, from `POST /v1/conversations`: only its questions find the document, and it is deleted with it. Only with `POST /documents`.',
  )

/** UTF-16 code units; the body limit bounds it further. */
const MAX_TEXT = 50_000_000

/** A document sent with its text. */
export const TextInput = z.object({
  text: filledText(MAX_TEXT).describe('Text of the document.'),
  title: optional(boundedText(1_000).overwrite(composed)).describe('Title of the document.'),
  url: optional(WebAddress).describe('URL of the original document.'),
  metadata: optional(Metadata),
  collection: optional(CollectionName).describe(
    'The collection of the document, stored as `collection` in its metadata; `default` if absent.',
  ),
  access: DocumentAccess,
})

export const DocumentInput = TextInput.extend({
  text: optional(TextInput.shape.text).describe(
    'Text of the document. If absent, the content at `url` is fetched.',
  ),
  refresh: optional(RefreshInterval),
  conversation: optional(ConversationId),
})
  .refine(({ text, url }) => text !== undefined || url !== undefined, {
    path: ['text'],
    message: 'is required, unless url is given to fetch the text from',
  })
  .refine(({ text, refresh }) => text === undefined || refresh === undefined, {
    path: ['refresh'],
    message: 'cannot be combined with text: only content fetched from url is refreshed',
  })
  .meta({
    id: 'CreateDocument',
    examples: [
      {
        title: 'Opening hours',
        text: 'The library opens at nine on weekdays and at ten on Saturdays.',
        url: 'https://example.org/hours',
      },
    ],
  })

export type DocumentInput = z.output<typeof DocumentInput>
/** A document to be fetched from the web. */
export type Page = Omit<DocumentInput, 'text' | 'url'> & { url: string }

const MAX_METADATA = 65_536

const MAX_ACCESS_TEXT = 16_384
const AccessField = jsonText(MAX_ACCESS_TEXT, 'must be a JSON array').pipe(DocumentAccess)

/** The form fields besides the file, all of them text. */
export const FileFields = z.object({
  title: boundedText(1_000)
    .overwrite(composed)
    .optional()
    .describe('Title of the document. Default: the file name.')
    .meta({ examples: ['Annual report'] }),
  url: WebAddress.optional()
    .describe('URL of the original document.')
    .meta({ examples: ['https://example.org/report'] }),
  metadata: jsonText(MAX_METADATA, 'must be a JSON object')
    .pipe(Metadata)
    .optional()
    .describe('Metadata as a JSON object.'),
  collection: CollectionName.optional()
    .describe('The collection of the document.')
    .meta({ examples: [DEFAULT_COLLECTION] }),
  access: z
    .preprocess((sent) => (sent === '' ? undefined : sent), AccessField.optional())
    .describe('Who may read the document, as a JSON array.'),
  conversation: z
    .preprocess((sent) => (sent === '' ? undefined : sent), ConversationId.optional())
    .describe('The conversation of the document.'),
})

/** The form as the contract shows it, with examples that `/reference` fills in; what arrives is read part by part. */
export const DocumentForm = z
  .object({
    file: z.string().max(1_000_000_000).meta({
      format: 'binary',
      description: 'Content of the file, with its name. At most FILE_LIMIT.',
    }),
    title: FileFields.shape.title,
    url: FileFields.shape.url,
    collection: FileFields.shape.collection,
    access: z
      .string()
      .max(MAX_ACCESS_TEXT)
      .optional()
      .describe('As in CreateDocument, as a JSON array; none if empty.')
      .meta({ examples: [''] }),
    conversation: z
      .string()
      .max(64)
      .optional()
      .describe('The conversation of the document, as in CreateDocument; none if empty.')
      .meta({ examples: [''] }),
    metadata: z
      .string()
      .max(MAX_METADATA)
      .optional()
      .describe('Metadata as a JSON object, as in `metadata` of CreateDocument.')
      .meta({ examples: ['{"year": 2026}'] }),
  })
  .meta({
    id: 'CreateDocumentFile',
    description: 'The parts may be sent in any order.',
    examples: [{ file: '%PDF-1.7 …', title: 'Annual report', metadata: '{"year": 2026}' }],
  })

export type FileFields = z.output<typeof FileFields>

/** A part of a form as it arrives: the bytes of a file must be read before the next part is. */
export type FormPart = FieldPart | FilePart

export interface FieldPart {
  kind: 'field'
  name: string
  value: string
}

export interface FilePart {
  kind: 'file'
  name: string
  /** The file's name on the client, if it sends one. */
  fileName: string | undefined
  mediaType: string | undefined
  bytes: AsyncIterable<Uint8Array>
}

/** An id that a client may choose: characters that need no escaping in a path. */
export const ChosenId = z
  .string()
  .regex(/^[A-Za-z0-9][\w.:@~-]{0,127}$/, {
    error: 'must start with a letter or digit, followed by up to 127 of A-Z a-z 0-9 _ . : @ ~ -',
  })
  .meta({ description: 'Identifier of the document, chosen by the client.', examples: ['hours'] })

export const ChosenParams = z.object({ id: ChosenId })

const emptyIsMissing = (value: unknown) => (value === '' ? Number.NaN : value)

export const WaitQuery = z.object({
  wait: z
    .preprocess(emptyIsMissing, z.coerce.number().min(0).max(60))
    .default(0)
    .describe(
      'Maximum number of seconds, up to 60, to wait until the document is `ready` or `failed`.',
    ),
  for: z
    .enum(['ready', 'embeddings'])
    .default('ready')
    .describe(
      'What to wait for. `ready`: the document is found by keyword search. `embeddings`: its embeddings are complete as well.',
    ),
})

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be 1 to 255 visible ASCII characters' })

export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': IdempotencyKey.optional().describe(
    'Makes retries safe: repeating a request with the same key returns the document that was created first, as long as it exists. Using the key for a different document returns 409.',
  ),
})

export type WaitQuery = z.output<typeof WaitQuery>
