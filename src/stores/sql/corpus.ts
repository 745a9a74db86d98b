import { setImmediate } from 'node:timers/promises'
import {
  type CopyCheckpoint,
  type CorpusChunks,
  type CorpusDocument,
  type CorpusPiece,
  type CorpusRecord,
  type CorpusStart,
  skipCopied,
  startAfter,
} from '../corpus.ts'
import type { KeyedVectors, NewChunk } from '../document-store.ts'
import type { Run, SqlDialect } from './query.ts'
import {
  bytes,
  fileToJson,
  integer,
  type Row,
  sourceToJson,
  toCorpusDocument,
  toCorpusStart,
  toDocument,
  toJson,
  toNewChunk,
  toVectors,
} from './rows.ts'

const DOCUMENTS_PER_READ = 200
/** This many chunks, with vectors of a few thousand numbers, take a few megabytes. */
const CHUNKS_PER_RECORD = 256

/** Everything in the database, as of the start of the transaction that `run` belongs to. */
export async function* readCorpusFrom(
  run: Run,
  { schema }: Pick<SqlDialect, 'schema'>,
  signal: AbortSignal,
  after?: CopyCheckpoint,
): AsyncGenerator<CorpusRecord> {
  const read = createReads(run, schema)
  const start = await read.start()
  const rows = read.documentRows()
  if (after) await skipCopied(() => nextDocument(rows, signal), start, after)
  yield after ? startAfter(start, after) : start
  for await (const row of rows) {
    signal.throwIfAborted()
    const record = await read.document(row)
    yield record
    for (let after = -1; after + 1 < record.document.chunkCount; after += CHUNKS_PER_RECORD) {
      signal.throwIfAborted()
      yield await read.chunks(row, after)
    }
    yield* read.pieces(row)
    await setImmediate()
  }
}

async function nextDocument(rows: AsyncIterator<Row>, signal: AbortSignal) {
  signal.throwIfAborted()
  const { value, done } = await rows.next()
  return done ? undefined : toDocument(value)
}

function createReads(run: Run, schema: string) {
  const DOCUMENTS = `
    SELECT documents.*, run_at, source FROM ${schema}.documents
    LEFT JOIN ${schema}.jobs ON jobs.document = number
    LEFT JOIN ${schema}.sources ON sources.document = number
    WHERE number > $1 ORDER BY number LIMIT ${DOCUMENTS_PER_READ}`
  const CONTENTS = `
    SELECT revision, text FROM ${schema}.contents WHERE document = $1 ORDER BY revision`
  const REPLACEMENT = `
    SELECT title, url, metadata, file, characters FROM ${schema}.replacements WHERE document = $1`
  const KEYS = `
    SELECT key, digest FROM ${schema}.idempotency_keys WHERE document = $1 ORDER BY key`
  const CHUNKS = `
    SELECT chunks.key, ordinal, start, "end", heading, text, page, page_end, vector
    FROM ${schema}.chunks LEFT JOIN ${schema}.vectors ON vectors.key = chunks.key
    WHERE document = $1 AND revision = $2 AND ordinal > $3 ORDER BY ordinal LIMIT ${CHUNKS_PER_RECORD}`
  const FILES = `SELECT number, revision FROM ${schema}.files WHERE document = $1 ORDER BY revision`
  const PIECE = `SELECT bytes FROM ${schema}.file_pieces WHERE file = $1 AND ordinal = $2`
  const EMBEDDING = `SELECT model, dimension FROM ${schema}.embeddings WHERE vectors = 'current'`
  const TOTALS = `
    SELECT (SELECT count(*) FROM ${schema}.documents) AS documents,
      (SELECT count(*) FROM ${schema}.chunks) AS chunks,
      (SELECT value FROM ${schema}.meta WHERE name = 'next_chunk_key') AS next_key`

  async function* piecesOf(file: Row): AsyncGenerator<CorpusPiece> {
    const [number, revision] = [integer(file, 'number'), integer(file, 'revision')]
    let [piece] = await run(PIECE, [number, 0])
    // An empty file has no pieces, but is still a file.
    if (!piece) yield { kind: 'piece', revision, bytes: new Uint8Array() }
    for (let ordinal = 1; piece; ordinal++) {
      yield { kind: 'piece', revision, bytes: bytes(piece, 'bytes') }
      piece = (await run(PIECE, [number, ordinal]))[0]
    }
  }

  return {
    async start() {
      const [embedding] = await run(EMBEDDING)
      const [totals] = await run(TOTALS)
      return toCorpusStart(totals, embedding)
    },

    async *documentRows(): AsyncGenerator<Row> {
      for (let last = 0; ; ) {
        const rows = await run(DOCUMENTS, [last])
        yield* rows
        if (rows.length < DOCUMENTS_PER_READ) return
        last = integer(rows.at(-1), 'number')
      }
    },

    async document(row: Row): Promise<CorpusDocument> {
      const number = integer(row, 'number')
      const contents = await run(CONTENTS, [number])
      const [replacement] = await run(REPLACEMENT, [number])
      return toCorpusDocument(row, contents, replacement, await run(KEYS, [number]))
    },

    async chunks(row: Row, after: number): Promise<CorpusChunks> {
      const values = [integer(row, 'number'), integer(row, 'served_revision'), after]
      const rows = await run(CHUNKS, values)
      const vectors = toVectors(rows.filter(({ vector }) => vector !== null))
      return { kind: 'chunks', chunks: rows.map(toNewChunk), vectors }
    },

    async *pieces(row: Row): AsyncGenerator<CorpusPiece> {
      for (const file of await run(FILES, [integer(row, 'number')])) yield* piecesOf(file)
    },
  }
}

/** How filling the database differs between SQLite and PostgreSQL. */
export interface CorpusTables extends Pick<SqlDialect, 'schema'> {
  /** Adds a job for the document `$1`, revision `$2`, due at `$3`. */
  job: string
  /** Adds a file of the document `$1`, revision `$2`, and returns its number. */
  file: string
  /** Stores the metadata `$2` of the document `$1` in its table, if no trigger does that. */
  metadata?: string
  insertChunks(document: number, revision: number, chunks: readonly NewChunk[]): Promise<void>
  insertVectors(vectors: KeyedVectors): Promise<void>
  /** Updates the counts, once everything is added. */
  counts: readonly string[]
}

/** Fills an empty database, record by record, within the caller's transactions. */
export function createCorpusWrites(run: Run, tables: CorpusTables) {
  const { schema } = tables
  const EMBEDDING = `
    INSERT INTO ${schema}.embeddings (vectors, model, dimension) VALUES ('current', $1, $2)`
  const PIECE = `INSERT INTO ${schema}.file_pieces (file, ordinal, bytes) VALUES ($1, $2, $3)`
  const NEXT_KEY = `UPDATE ${schema}.meta SET value = $1 WHERE name = 'next_chunk_key'`
  let nextKey = 0
  let current = { number: 0, revision: 0 }
  let file: { number: number; revision: number; pieces: number } | undefined

  const begin = async ({ embedding, nextChunkKey }: CorpusStart) => {
    nextKey = nextChunkKey
    if (embedding) await run(EMBEDDING, [embedding.model, embedding.dimension])
  }
  const addDocument = async (record: CorpusDocument) => {
    const number = await insertDocument(run, tables, record)
    current = { number, revision: record.document.servedRevision ?? 0 }
    file = undefined
  }
  const addChunks = async ({ chunks, vectors }: CorpusChunks) => {
    await tables.insertChunks(current.number, current.revision, chunks)
    nextKey = chunks.reduce((next, { key }) => Math.max(next, key + 1), nextKey)
    if (vectors.keys.length > 0) await tables.insertVectors(vectors)
  }
  const addPiece = async ({ revision, bytes }: CorpusPiece) => {
    if (file?.revision !== revision) {
      const [row] = await run(tables.file, [current.number, revision])
      file = { number: integer(row, 'number'), revision, pieces: 0 }
    }
    if (bytes.length > 0) await run(PIECE, [file.number, file.pieces++, bytes])
  }

  return {
    async add(record: CorpusRecord) {
      if (record.kind === 'start') await begin(record)
      else if (record.kind === 'document') await addDocument(record)
      else if (record.kind === 'chunks') await addChunks(record)
      else await addPiece(record)
    },

    /** Call instead of adding the start record, if it was added before. */
    resume({ nextChunkKey }: CorpusStart) {
      nextKey = nextChunkKey
    },

    /** Call once everything is added. */
    async end() {
      await run(NEXT_KEY, [nextKey])
      for (const statement of tables.counts) await run(statement)
    },
  }
}

async function insertDocument(
  run: Run,
  { schema, job, metadata: keepMetadata }: CorpusTables,
  { document, contents, replacement, dueAt, idempotency }: CorpusDocument,
): Promise<number> {
  const { id, title, url, metadata, file, status, error, attempts, revision } = document
  const [row] = await run(
    `INSERT INTO ${schema}.documents (id, title, url, metadata, file, status, error_code,
      error_message, attempts, revision, served_revision, chunk_count, characters, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING number`,
    [
      ...[id, title, url, toJson(metadata), fileToJson(file), status, error?.code, error?.message],
      ...[attempts, revision, document.servedRevision, document.chunkCount, document.characters],
      ...[document.createdAt, document.updatedAt],
    ],
  )
  const number = integer(row, 'number')
  if (metadata && keepMetadata) await run(keepMetadata, [number, toJson(metadata)])
  for (const { revision, text } of contents) {
    const CONTENT = `INSERT INTO ${schema}.contents (document, revision, text) VALUES ($1, $2, $3)`
    await run(CONTENT, [number, revision, text])
  }
  for (const { key, digest } of idempotency) {
    const KEY = `
      INSERT INTO ${schema}.idempotency_keys (key, digest, document) VALUES ($1, $2, $3)`
    await run(KEY, [key, digest, number])
  }
  if (replacement) {
    const { title, url, metadata, file, characters } = replacement
    await run(
      `INSERT INTO ${schema}.replacements (document, title, url, metadata, file, characters)
      VALUES ($1, $2, $3, $4, $5, $6)`,
      [number, title, url, toJson(metadata), fileToJson(file), characters],
    )
  }
  if (document.source) {
    const SOURCE = `INSERT INTO ${schema}.sources (document, source, fetch_at) VALUES ($1, $2, $3)`
    await run(SOURCE, [number, sourceToJson(document.source), document.source.dueAt])
  }
  if (dueAt !== undefined) await run(job, [number, revision, dueAt])
  return number
}
