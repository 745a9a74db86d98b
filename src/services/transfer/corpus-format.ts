import { z } from 'zod'
import { Metadata } from '../../schemas/metadata.ts'
import { DOCUMENT_STATUSES } from '../../stores/document-store.ts'

/** The name and version of the format; a reader refuses every other. */
export const FORMAT = 'agent-server-corpus'
export const FORMAT_VERSION = 1

/** A text is written in parts of so many UTF-16 code units, so that no line is long. */
export const TEXT_PART_CHARACTERS = 2 ** 20
/** Far above what a line may need: a part of a text whose every character is escaped, or 256 passages with their vectors. */
export const MAXIMUM_LINE_BYTES = 64 * 2 ** 20

const count = z.int().min(0)
const time = z.number()

/** As `optional`, with a property that is there: what is absent is `undefined`. */
const absent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value)

const StoredFile = z.object({ name: z.string(), mediaType: z.string(), size: count })
const Embedding = z.object({ model: z.string(), dimension: z.int().min(1) })
const Content = {
  title: absent(z.string()),
  url: absent(z.string()),
  metadata: absent(Metadata),
  file: absent(StoredFile),
  characters: count,
}

export const HeaderLine = z.object({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  createdAt: z.string(),
  embedding: absent(Embedding),
  documents: count,
  chunks: count,
  nextChunkKey: count,
})

const DocumentLine = z.object({
  kind: z.literal('document'),
  document: z.object({
    id: z.string(),
    ...Content,
    status: z.enum(DOCUMENT_STATUSES).exclude(['processing']),
    error: absent(z.object({ code: z.string(), message: z.string() })),
    attempts: count,
    revision: count,
    servedRevision: absent(count),
    chunkCount: count,
    createdAt: time,
    updatedAt: time,
  }),
  /** The revisions whose texts follow, each in as many parts as its length takes. */
  texts: z.array(z.object({ revision: count, characters: count })),
  replacement: absent(z.object(Content)),
  dueAt: absent(time),
  idempotency: z.array(z.object({ key: z.string(), digest: z.string() })),
})

const TextLine = z.object({ kind: z.literal('text'), revision: count, text: z.string() })

const ChunksLine = z.object({
  kind: z.literal('chunks'),
  chunks: z.array(
    z.object({
      key: z
        .int()
        .min(0)
        .max(2 ** 32 - 1),
      ordinal: count,
      text: z.string(),
      heading: z.string(),
      start: count,
      end: count,
      page: absent(count),
      pageEnd: absent(count),
    }),
  ),
  /** The numbers of all vectors, one after another, as little-endian floats of 16 bits where that loses nothing, else of 32. */
  vectors: z.object({
    keys: z.array(
      z
        .int()
        .min(0)
        .max(2 ** 32 - 1),
    ),
    dimension: count,
    bits: z.literal([16, 32]),
    values: z.base64(),
  }),
})

const PieceLine = z.object({ kind: z.literal('piece'), revision: count, bytes: z.base64() })

/** The last line. */
export const EndLine = z.object({
  kind: z.literal('end'),
  /** Lines before this one. */
  lines: count,
  /** Of all bytes before this line. */
  sha256: z.string(),
})

export const BodyLine = z.discriminatedUnion('kind', [
  DocumentLine,
  TextLine,
  ChunksLine,
  PieceLine,
])

export type HeaderLine = z.input<typeof HeaderLine>
export type BodyLine = z.input<typeof BodyLine>
export type ReadLine = z.output<typeof BodyLine>
