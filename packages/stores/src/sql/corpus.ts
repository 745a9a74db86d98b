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
import { keepAccess } from './access.ts'
import { toEmbedding, toNewChunk, toVectors } from './chunks.ts'
import { createCollectionReads, reserveNames, restoreCollection } from './collections.ts'
import {
  contentColumns,
  documentColumns,
  insertInto,
  sourceColumns,
  toContent,
  toDocument,
} from './columns.ts'
import { soundText, storedText } from './contents.ts'
import type { Dialect } from './dialect.ts'
import { checked, storedPieces } from './files.ts'
import { insertMetadata } from './labels.ts'
import { integer, optionalInteger, type Row, type Tx, text } from './query.ts'

const DOCUMENTS_PER_READ = 200
/** This many chunks, with vectors of a few thousand numbers, take a few megabytes. */
const CHUNKS_PER_RECORD = 256
/** A statement has at most 32,766 parameters. */
const NAMES_PER_WRITE = 10_000

/** Everything in the database, as of the start of the transaction. */
export async function* readCorpusFrom(
  tx: Tx,
  signal: AbortSignal,
  after?: CopyCheckpoint,
): AsyncGenerator<CorpusRecord> {
  const read = createReads(tx)
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

function createReads({ all: run }: Pick<Tx, 'all'>) {
  const DOCUMENTS = `
    SELECT documents.*, run_at, source FROM documents
    LEFT JOIN jobs ON jobs.document = number
    LEFT JOIN sources ON sources.document = number
    WHERE number > $1 ORDER BY number LIMIT ${DOCUMENTS_PER_READ}`
  const CONTENTS = `
    SELECT revision, text, digest FROM contents WHERE document = $1 ORDER BY revision`
  const REPLACEMENT = `
    SELECT * FROM replacements WHERE document = $1`
  const KEYS = `
    SELECT key, digest FROM idempotency_keys WHERE document = $1 ORDER BY key`
  const CHUNKS = `
    SELECT chunks.key, ordinal, start, "end", heading, text, page, page_end, vector, context
    FROM chunks LEFT JOIN vectors ON vectors.key = chunks.key
    LEFT JOIN chunk_contexts ON chunk_contexts.key = chunks.key
    WHERE document = $1 AND revision = $2 AND ordinal > $3 ORDER BY ordinal LIMIT ${CHUNKS_PER_RECORD}`
  const FILES = `SELECT number, revision FROM files WHERE document = $1 ORDER BY revision`
  const EMBEDDING = `SELECT model, dimension FROM embeddings WHERE vectors = 'current'`
  const TOTALS = `
    SELECT (SELECT count(*) FROM documents) AS documents,
      (SELECT count(*) FROM chunks) AS chunks,
      (SELECT value FROM meta WHERE name = 'next_chunk_key') AS next_key`

  const RESERVED = 'SELECT name FROM reserved_collections ORDER BY name'
  const NAMES = 'SELECT collection, name, owner FROM collection_names ORDER BY collection'
  const collections = createCollectionReads(run)

  async function* piecesOf(file: Row): AsyncGenerator<CorpusPiece> {
    const [number, revision] = [integer(file, 'number'), integer(file, 'revision')]
    let isEmpty = true
    for await (const piece of checked(storedPieces(run, number), number, run)) {
      yield { kind: 'piece', revision, bytes: piece }
      isEmpty = false
    }
    // An empty file has no pieces, but is still a file.
    if (isEmpty) yield { kind: 'piece', revision, bytes: new Uint8Array() }
  }

  return {
    async start(): Promise<CorpusStart> {
      const [embedding] = await run(EMBEDDING)
      const [totals] = await run(TOTALS)
      return {
        kind: 'start',
        embedding: toEmbedding(embedding),
        documents: integer(totals, 'documents'),
        chunks: integer(totals, 'chunks'),
        nextChunkKey: integer(totals, 'next_key'),
        collectionNames: (await run(NAMES)).map((row) => ({
          collection: text(row, 'collection'),
          name: text(row, 'name'),
          owner: text(row, 'owner'),
        })),
        collections: await collections.list(),
        reservedCollections: (await run(RESERVED)).map((row) => text(row, 'name')),
      }
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
      const keys = await run(KEYS, [number])
      const document = toDocument(row)
      const status = document.status === 'processing' ? 'pending' : document.status
      return {
        kind: 'document',
        document: { ...document, status },
        contents: contents.map((content) => ({
          revision: integer(content, 'revision'),
          text: soundText(content, document.id),
        })),
        replacement: replacement && toContent(replacement),
        dueAt: optionalInteger(row, 'run_at'),
        idempotency: keys.map((key) => ({ key: text(key, 'key'), digest: text(key, 'digest') })),
      }
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

const COUNT = `UPDATE counts SET
    pending = (SELECT count(*) FROM documents WHERE status = 'pending'),
    processing = 0,
    ready = (SELECT count(*) FROM documents WHERE status = 'ready'),
    failed = (SELECT count(*) FROM documents WHERE status = 'failed'),
    chunks = (SELECT count(*) FROM chunks),
    jobs = (SELECT count(*) FROM jobs),
    changes = changes + 1
  WHERE slot = 0`
/** Exports of before have no names that are reserved. */
const RESERVE = `INSERT INTO reserved_collections (name)
  SELECT DISTINCT collection FROM documents WHERE length(collection) <= 64
    AND NOT EXISTS (SELECT 1 FROM collections WHERE name = collection)
  ON CONFLICT (name) DO NOTHING`
const NO_OTHER_COUNTS = `UPDATE counts
  SET pending = 0, processing = 0, ready = 0, failed = 0, chunks = 0, jobs = 0 WHERE slot <> 0`

/** Fills an empty database, record by record, within the caller's transactions. Jobs wait in `moved_jobs`. */
export function createCorpusWrites(tx: Tx, dialect: Dialect) {
  let nextKey = 0
  let current = { number: 0, revision: 0 }
  let file: { number: number; revision: number; pieces: number } | undefined

  const begin = async (start: CorpusStart) => {
    const { embedding, nextChunkKey, collectionNames } = start
    nextKey = nextChunkKey
    if (embedding) await insertInto(tx, 'embeddings', { vectors: 'current', ...embedding })
    // A name that was given here stays.
    for (const one of collectionNames) {
      await insertInto(tx, 'collection_names', one, 'ON CONFLICT (collection) DO NOTHING')
    }
    for (const collection of start.collections) await restoreCollection(tx, dialect, collection)
    for (let i = 0; i < start.reservedCollections.length; i += NAMES_PER_WRITE) {
      await reserveNames(tx, dialect, start.reservedCollections.slice(i, i + NAMES_PER_WRITE))
    }
  }
  const addDocument = async (record: CorpusDocument) => {
    await keepAccess(tx, dialect, record.document.access)
    const number = await insertDocument(tx, record)
    current = { number, revision: record.document.servedRevision ?? 0 }
    file = undefined
  }
  const addChunks = async ({ chunks, vectors }: CorpusChunks) => {
    await dialect.insertChunks(tx, current.number, current.revision, chunks)
    for (const { key, context } of chunks) {
      if (context !== undefined) await insertInto(tx, 'chunk_contexts', { key, context })
    }
    nextKey = chunks.reduce((next, { key }) => Math.max(next, key + 1), nextKey)
    if (vectors.keys.length > 0) await dialect.insertVectors(tx, 'vectors', vectors)
  }
  const addPiece = async ({ revision, bytes: piece }: CorpusPiece) => {
    if (file?.revision !== revision) {
      const owner = { document: current.number, revision, touched_at: 0 }
      const [row] = await insertInto(tx, 'files', owner, 'RETURNING number')
      file = { number: integer(row, 'number'), revision, pieces: 0 }
    }
    if (piece.length === 0) return
    const ordinal = file.pieces++
    await insertInto(tx, 'file_pieces', { file: file.number, ordinal, bytes: piece })
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
      await tx.run(`UPDATE meta SET value = $1 WHERE name = 'next_chunk_key'`, [nextKey])
      await tx.run(RESERVE)
      await tx.run(COUNT)
      await tx.run(NO_OTHER_COUNTS)
    },
  }
}

async function insertDocument(
  tx: Tx,
  { document, contents, replacement, dueAt, idempotency }: CorpusDocument,
): Promise<number> {
  const [row] = await insertInto(tx, 'documents', documentColumns(document), 'RETURNING number')
  const number = integer(row, 'number')
  await insertMetadata(tx, number, document)
  for (const { revision, text } of contents) {
    await insertInto(tx, 'contents', { document: number, revision, ...storedText(text) })
  }
  for (const key of idempotency) {
    await insertInto(tx, 'idempotency_keys', { ...key, document: number })
  }
  if (replacement) {
    const content = contentColumns(replacement)
    await insertInto(tx, 'replacements', { document: number, ...content })
  }
  if (document.source) {
    await insertInto(tx, 'sources', { document: number, ...sourceColumns(document.source) })
  }
  if (dueAt !== undefined) {
    const job = { document: number, revision: document.revision, run_at: dueAt }
    await insertInto(tx, 'moved_jobs', job)
  }
  return number
}
