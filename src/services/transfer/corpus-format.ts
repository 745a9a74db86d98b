import { z } from 'zod'
import { Metadata } from '../../schemas/metadata.ts'
import type { CorpusDocument, CorpusRecord, CorpusStart } from '../../stores/corpus.ts'
import { DOCUMENT_STATUSES, type KeyedVectors } from '../../stores/document-store.ts'

/** The name and version of the format; a reader refuses every other. */
export const FORMAT = 'agent-server-corpus'
export const FORMAT_VERSION = 1

/** Texts are written in parts of this many UTF-16 code units, so that no line gets too long. */
const TEXT_PART_CHARACTERS = 2 ** 20
/** Far more than a line needs: a part of a text with every character escaped, or 256 chunks with their vectors. */
export const MAX_LINE_BYTES = 64 * 2 ** 20

const count = z.int().min(0)
const time = z.number()

/** Like `optional`, but the property is always present: what is absent is `undefined`. */
const absent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value)

/** What was reported when the file was read; earlier exports lack it. */
const FileNotes = z.object({
  page: count.exactOptional(),
  warnings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .readonly()
    .exactOptional(),
})
const StoredFile = z.object({
  ...{ name: z.string(), mediaType: z.string(), size: count },
  notes: FileNotes.exactOptional(),
})
const EmbeddingModel = z.object({ model: z.string(), dimension: z.int().min(1) })
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
  embedding: absent(EmbeddingModel),
  documents: count,
  chunks: count,
  nextChunkKey: count,
})

const StoredSource = z.object({
  url: z.string(),
  ...{ refresh: absent(z.string()), title: absent(z.string()) },
  ...{ fetchedAt: time, status: absent(count), error: absent(z.string()), failures: count },
  ...{ dueAt: absent(time), etag: absent(z.string()), lastModified: absent(z.string()) },
  digest: z.string(),
})

const DocumentLine = z.object({
  kind: z.literal('document'),
  document: z.object({
    id: z.string(),
    ...Content,
    source: absent(StoredSource),
    status: z.enum(DOCUMENT_STATUSES).exclude(['processing']),
    error: absent(z.object({ code: z.string(), message: z.string() })),
    attempts: count,
    revision: count,
    servedRevision: absent(count),
    chunkCount: count,
    createdAt: time,
    updatedAt: time,
  }),
  /** The revisions whose texts follow, each in as many parts as its length needs. */
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
      key: z.uint32(),
      ordinal: count,
      text: z.string(),
      heading: z.string(),
      start: count,
      end: count,
      page: absent(count),
      pageEnd: absent(count),
    }),
  ),
  /** The values of all vectors, concatenated, as little-endian floats of 16 bits if that is lossless, else of 32. */
  vectors: z.object({
    keys: z.array(z.uint32()),
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
type ReadLine = z.output<typeof BodyLine>

/** Encodes a record as the contents of its lines, in order. */
export function* encodeRecord(record: CorpusRecord): Generator<HeaderLine | BodyLine> {
  switch (record.kind) {
    case 'start':
      return yield toHeader(record)
    case 'document': {
      const { contents, ...rest } = record
      const texts = contents.map(({ revision, text }) => ({ revision, characters: text.length }))
      const { status } = rest.document
      if (status === 'processing') throw new Error('A claim does not travel')
      yield { ...rest, document: { ...rest.document, status }, texts }
      for (const { revision, text } of contents) yield* toTextLines(revision, text)
      return
    }
    case 'chunks':
      return yield { ...record, vectors: packVectors(record.vectors) }
    case 'piece':
      return yield { ...record, bytes: Buffer.from(record.bytes).toString('base64') }
    default:
      return record satisfies never
  }
}

function toHeader({ embedding, documents, chunks, nextChunkKey }: CorpusStart): HeaderLine {
  const createdAt = new Date().toISOString()
  return {
    ...{ format: FORMAT, version: FORMAT_VERSION, createdAt },
    ...{ embedding, documents, chunks, nextChunkKey },
  }
}

function* toTextLines(revision: number, text: string): Generator<BodyLine> {
  for (let start = 0; start < text.length; start += TEXT_PART_CHARACTERS) {
    yield { kind: 'text', revision, text: text.slice(start, start + TEXT_PART_CHARACTERS) }
  }
}

function packVectors({ keys, dimension, values }: KeyedVectors) {
  const isShort = values.every((value) => Math.f16round(value) === value)
  const bytes = new DataView(new ArrayBuffer(values.length * (isShort ? 2 : 4)))
  values.forEach((value, i) => {
    if (isShort) bytes.setFloat16(i * 2, value, true)
    else bytes.setFloat32(i * 4, value, true)
  })
  return {
    keys: [...keys],
    dimension,
    bits: isShort ? (16 as const) : (32 as const),
    values: Buffer.from(bytes.buffer).toString('base64'),
  }
}

type Texts = { revision: number; characters: number; parts: string[] }[]

/** Reassembles records from the lines after the header. Throws an Error for a misplaced line. */
export function createRecordDecoder() {
  let waiting: { record: CorpusDocument; texts: Texts } | undefined

  const takeDocument = function* (): Generator<CorpusRecord> {
    if (!waiting) return
    const { record, texts } = waiting
    waiting = undefined
    for (const { revision, characters, parts } of texts) {
      const text = parts.join('')
      if (text.length === characters) record.contents.push({ revision, text })
      else throw new Error(`The text of the document ${record.document.id} is not whole`)
    }
    yield record
  }
  const addText = (revision: number, text: string) => {
    const found = waiting?.texts.find((each) => each.revision === revision)
    if (!found) throw new Error('There is a text that belongs to no document')
    found.parts.push(text)
  }

  return {
    *next(line: ReadLine): Generator<CorpusRecord> {
      if (line.kind === 'text') return addText(line.revision, line.text)
      yield* takeDocument()
      if (line.kind === 'chunks') yield { ...line, vectors: unpackVectors(line.vectors) }
      else if (line.kind === 'piece') yield { ...line, bytes: Buffer.from(line.bytes, 'base64') }
      else {
        const { texts, ...record } = line
        waiting = {
          record: { ...record, contents: [] },
          texts: texts.map((text) => ({ ...text, parts: [] })),
        }
      }
    },
    /** Yields the record that is still pending after the last line. */
    end: takeDocument,
  }
}

type PackedVectors = Extract<ReadLine, { kind: 'chunks' }>['vectors']

function unpackVectors({ keys, dimension, bits, values }: PackedVectors): KeyedVectors {
  const bytes = Buffer.from(values, 'base64')
  const length = keys.length * dimension
  if (bytes.length !== (length * bits) / 8) throw new Error('The vectors are not whole')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const unpacked = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    unpacked[i] = bits === 16 ? view.getFloat16(i * 2, true) : view.getFloat32(i * 4, true)
  }
  return { keys: Uint32Array.from(keys), dimension, values: unpacked }
}
