import { z } from 'zod'
import { boundedText, filledText, optional } from './fields.ts'
import { CollectionName, Metadata } from './metadata.ts'
import { RefreshInterval, WebAddress } from './web.ts'

/** UTF-16 code units; the body limit bounds it further. */
const MAX_TEXT = 50_000_000

/** A document whose text is sent along. */
export const TextInput = z.object({
  text: filledText(MAX_TEXT).describe('Raw text content of the document.'),
  title: optional(boundedText(1_000)).describe('Title of the document.'),
  url: optional(boundedText(4_000)).describe('URL where the document originated.'),
  metadata: optional(Metadata),
  collection: optional(CollectionName).describe(
    'The collection that the document belongs to, kept as `collection` in its metadata; `default`, where there is none.',
  ),
})

export const DocumentInput = TextInput.extend({
  text: optional(TextInput.shape.text).describe(
    'Raw text content of the document; without it, what is at `url` is fetched.',
  ),
  refresh: optional(RefreshInterval),
})
  .refine(({ text, url }) => text !== undefined || url !== undefined, {
    path: ['text'],
    message: 'is required, or url, to fetch it from there',
  })
  .refine(({ text, url }) => text !== undefined || !url || WebAddress.safeParse(url).success, {
    path: ['url'],
    message: 'must be an address that begins with http:// or https://, for there is no text',
  })
  .refine(({ text, refresh }) => text === undefined || refresh === undefined, {
    path: ['refresh'],
    message: 'is of no use beside text: it says how often what is at url is fetched',
  })
  .meta({
    id: 'NewDocument',
    examples: [
      {
        title: 'Opening hours',
        text: 'The library opens at nine on weekdays and at ten on Saturdays.',
        url: 'https://example.org/hours',
      },
    ],
  })

export type DocumentInput = z.output<typeof DocumentInput>
/** A document that is to be fetched. */
export type Page = Omit<DocumentInput, 'text' | 'url'> & { url: string }
