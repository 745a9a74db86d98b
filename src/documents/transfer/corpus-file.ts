import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { exists, putInPlace } from '@agent-server/lib/files.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { shownMetadata, toPlace } from '@agent-server/lib/labels.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { type Line, readLines } from '@agent-server/lib/text/lines.ts'
import { Metadata } from '@agent-server/schemas/metadata.ts'
import { z } from 'zod'
import type { RoleLists, StoredCollection } from '../../stores/collection-store.ts'
import type { CorpusDocument, CorpusRecord, CorpusStart } from '../../stores/corpus.ts'
import {
  DOCUMENT_STATUSES,
  type DocumentContent,
  type EmbeddingModel,
  type Idempotency,
  type NewChunk,
  type StoredDocument,
} from '../../stores/document-store.ts'
import type { FileNotes, StoredFile } from '../../stores/file-store.ts'
import type { StoredSource } from '../../stores/source-store.ts'

/** The name and version of the format; a reader refuses every other. */
const FORMAT = 'agent-server-corpus'
const FORMAT_VERSION = 1
/** More than the longest two texts of a document take with every character escaped; a string cannot be much longer. */
const MAX_LINE_BYTES = 500_000_000

/** The start of every version of the format. */
const AnyHeader = z.object({ format: z.literal(FORMAT), version: z.number() })

interface WholeLine {
  /** From 1. */
  number: number
  bytes: Buffer
}

/**
 * Reads the records of a file. Throws an Error that says what is wrong with it. A truncated or modified file is only
 * detected at its end, so nothing from it may be committed before that.
 */
export async function* readCorpusFile(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<CorpusRecord> {
  for await (const { number, bytes } of sealedLines(file, signal)) {
    if (number === 1) yield readHeader(file, bytes)
    else {
      const line = parse(BodyLine, bytes)
      if (!line) throw damaged(file, `has an invalid line ${number}`)
      yield line
    }
  }
}

/** Yields all lines but the last, whose digest must match the lines before it. */
async function* sealedLines(file: string, signal: AbortSignal): AsyncGenerator<WholeLine> {
  const hash = createHash('sha256')
  let last: WholeLine | undefined
  for await (const { number, bytes } of unpackedLines(file, signal)) {
    if (!bytes) throw damaged(file, `has a line ${number} that is too long`)
    if (last) {
      hash.update(last.bytes).update('\n')
      yield last
    }
    last = { number, bytes }
  }
  const end = last && parse(EndLine, last.bytes)
  if (!last || !end) throw damaged(file, 'ends too early')
  if (end.lines === last.number - 1 && end.sha256 === hash.digest('hex')) return
  throw damaged(file, 'is damaged')
}

async function* unpackedLines(file: string, signal: AbortSignal): AsyncGenerator<Line> {
  const unpacked = createZstdDecompress()
  // The pipeline destroys `unpacked` if the file cannot be read, so that its reader gets the error.
  const reading = pipeline(createReadStream(file, { signal }), unpacked)
  void ignore(reading, 'it may fail while a line is in use, and is awaited at the end')
  try {
    yield* readLines(unpacked, MAX_LINE_BYTES)
    await reading
  } catch (error) {
    signal.throwIfAborted()
    const code = codeOf(error) ?? ''
    if (code === 'Z_BUF_ERROR' || code.startsWith('ZSTD')) {
      throw damaged(file, 'cannot be unpacked', error)
    }
    // This error occurs on the first read, and its message has no path.
    throw code === 'EISDIR' ? damaged(file, 'is a folder') : error
  } finally {
    unpacked.destroy()
    await Promise.allSettled([reading])
  }
}

function readHeader(file: string, bytes: Buffer): CorpusRecord {
  const format = parse(AnyHeader, bytes)
  if (!format) throw damaged(file, 'is not an exported corpus')
  if (format.version !== FORMAT_VERSION) {
    throw new Error(
      `${file} has version ${format.version} of the format, and this server reads version ${FORMAT_VERSION}: import it with a matching server`,
    )
  }
  const header = parse(HeaderLine, bytes)
  if (!header) throw damaged(file, 'has an unreadable header')
  const { format: _format, version: _version, createdAt: _, ...start } = header
  return { kind: 'start', ...start }
}

function parse<Schema extends z.ZodType>(schema: Schema, bytes: Buffer) {
  return schema.safeParse(parseJson(bytes.toString())).data
}

function damaged(file: string, how: string, cause?: unknown): Error {
  return new Error(`${file} ${how}: nothing was imported`, { cause })
}

/** Lines are passed to the compressor in blocks of about this many characters. */
const BLOCK_CHARACTERS = 2 ** 18
const PRIVATE = 0o600

/**
 * Writes records as compressed lines of JSON; the last line holds their number and digest. The file gets its name
 * only once it is complete and flushed to disk. Throws if a file of that name exists.
 */
export async function writeCorpusFile(
  file: string,
  records: AsyncIterable<CorpusRecord>,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(file)) throw new Error(`The file ${file} already exists`)
  const unfinished = `${file}.part`
  try {
    await pipeline(
      Readable.from(sealLines(records), { objectMode: false }),
      createZstdCompress(),
      createWriteStream(unfinished, { mode: PRIVATE, flush: true }),
      { signal },
    )
    await putInPlace(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    signal.throwIfAborted()
    throw error
  }
}

/** The lines of all records, in blocks. */
async function* sealLines(records: AsyncIterable<CorpusRecord>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let lines = 0
  let block = ''
  for await (const record of records) {
    const line = `${JSON.stringify(encode(record))}\n`
    hash.update(line)
    lines++
    block += line
    if (block.length < BLOCK_CHARACTERS) continue
    yield Buffer.from(block)
    block = ''
  }
  const end = { kind: 'end', lines, sha256: hash.digest('hex') }
  yield Buffer.from(`${block}${JSON.stringify(end)}\n`)
}

/** The line of a record. */
function encode(record: CorpusRecord): object {
  switch (record.kind) {
    case 'start': {
      const { kind: _, ...corpus } = record
      const createdAt = new Date().toISOString()
      return { format: FORMAT, version: FORMAT_VERSION, createdAt, ...corpus }
    }
    case 'document':
      if (record.document.status === 'processing') throw new Error('A claim does not travel')
      return {
        ...record,
        document: toShown(record.document),
        replacement: record.replacement && toShown(record.replacement),
      }
    case 'chunks': {
      const { keys, dimension, values } = record.vectors
      const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
      return {
        ...record,
        vectors: { keys: [...keys], dimension, values: bytes.toString('base64') },
      }
    }
    case 'piece':
      return { ...record, bytes: Buffer.from(record.bytes).toString('base64') }
    default:
      return record satisfies never
  }
}

/** The collection stands in the metadata, where clients see it. */
function toShown<Content extends DocumentContent>({ collection, ...content }: Content) {
  return { ...content, metadata: shownMetadata({ collection, metadata: content.metadata }) }
}

const placed = <Content extends { metadata: Metadata | undefined }>(content: Content) => ({
  ...content,
  ...toPlace(content.metadata),
})

const count = z.int().min(0)
const time = z.number()
const Bytes = z.base64().transform((text) => Buffer.from(text, 'base64'))

/** A property that is not named here would be lost on the way. */
type Fields<Of, Except extends keyof Of = never> = Record<Exclude<keyof Of, Except>, z.ZodType>

/** Like `optional`, but the property is always present: what is absent is `undefined`. */
const absent = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value)

/** What was reported when the file was read. */
const StoredFileNotes = z.object({
  page: count.exactOptional(),
  tables: count.exactOptional(),
  warnings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .readonly()
    .exactOptional(),
} satisfies Fields<FileNotes>)
const File = z.object({
  name: z.string(),
  mediaType: z.string(),
  size: count,
  sha256: z.string().exactOptional(),
  notes: StoredFileNotes.exactOptional(),
} satisfies Fields<StoredFile>)
const Embedding = z.object({
  model: z.string(),
  dimension: z.int().min(1),
} satisfies Fields<EmbeddingModel>)
const Content = {
  title: absent(z.string()),
  url: absent(z.string()),
  metadata: absent(Metadata),
  access: absent(z.array(z.string()).readonly()),
  file: absent(File),
  characters: count,
} satisfies Fields<DocumentContent, 'collection'>

const List = z.array(z.string()).readonly()
const Shared = z.object({
  name: z.string(),
  creator: absent(z.string()),
  createdAt: time,
  lists: z.object({ reader: List, contributor: List, owner: List } satisfies Fields<RoleLists>),
} satisfies Fields<StoredCollection>)

const HeaderLine = z.object({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  createdAt: z.string(),
  embedding: absent(Embedding),
  documents: count,
  chunks: count,
  nextChunkKey: count,
  collectionNames: z.array(z.object({ collection: z.string(), name: z.string() })).default([]),
  collections: z.array(Shared).default([]),
  reservedCollections: z.array(z.string()).default([]),
} satisfies Fields<CorpusStart & { format: string; version: number; createdAt: string }, 'kind'>)

const Source = z.object({
  url: z.string(),
  refresh: absent(z.string()),
  title: absent(z.string()),
  fetchedAt: time,
  status: absent(count),
  error: absent(z.string()),
  failures: count,
  dueAt: absent(time),
  etag: absent(z.string()),
  lastModified: absent(z.string()),
  digest: z.string(),
} satisfies Fields<StoredSource>)

const DocumentLine = z.object({
  kind: z.literal('document'),
  document: z
    .object({
      id: z.string(),
      conversation: absent(z.string()),
      creator: absent(z.string()),
      ...Content,
      source: absent(Source),
      status: z.enum(DOCUMENT_STATUSES).exclude(['processing']),
      error: absent(z.object({ code: z.string(), message: z.string() })),
      attempts: count,
      revision: count,
      servedRevision: absent(count),
      chunkCount: count,
      createdAt: time,
      updatedAt: time,
    } satisfies Fields<StoredDocument, 'collection'>)
    .transform(placed),
  contents: z.array(z.object({ revision: count, text: z.string() })),
  replacement: absent(z.object(Content).transform(placed)),
  dueAt: absent(time),
  idempotency: z.array(
    z.object({ key: z.string(), digest: z.string() } satisfies Fields<Idempotency>),
  ),
} satisfies Fields<CorpusDocument>)

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
      context: absent(z.string()),
    } satisfies Fields<NewChunk>),
  ),
  vectors: z
    .object({
      keys: z.array(z.uint32()).transform((keys) => Uint32Array.from(keys)),
      dimension: count,
      /** All vectors, concatenated, as little-endian floats of 32 bits. */
      values: Bytes.transform((bytes) => new Float32Array(Uint8Array.from(bytes).buffer)),
    })
    .refine(({ keys, dimension, values }) => values.length === keys.length * dimension),
})

const PieceLine = z.object({ kind: z.literal('piece'), revision: count, bytes: Bytes })

/** The last line. */
const EndLine = z.object({
  kind: z.literal('end'),
  /** Lines before this one. */
  lines: count,
  /** Of all bytes before this line. */
  sha256: z.string(),
})

const BodyLine = z.discriminatedUnion('kind', [DocumentLine, ChunksLine, PieceLine])
