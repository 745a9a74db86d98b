import type {
  CorpusChunks,
  CorpusDocument,
  CorpusPiece,
  CorpusRecord,
  CorpusStart,
} from '../corpus.ts'
import type { KeyedVectors, NewChunk } from '../document-store.ts'
import type { Run, SqlDialect } from './query.ts'
import { fileToJson, integer, sourceToJson, toJson } from './rows.ts'

/** What differs between the databases in filling them. */
export interface CorpusTables extends Pick<SqlDialect, 'schema'> {
  /** Adds a job: of the document `$1`, of its revision `$2`, due at `$3`. */
  job: string
  /** Adds a file of the document `$1`, of its revision `$2`, and answers its number. */
  file: string
  /** Keeps the metadata `$2` of the document `$1` in its table, where no trigger does. */
  metadata?: string
  insertChunks(document: number, revision: number, chunks: readonly NewChunk[]): Promise<void>
  insertVectors(vectors: KeyedVectors): Promise<void>
  /** Counts what is there, once all of it is. */
  counts: readonly string[]
}

/** Fills an empty database, record by record, inside transactions of the caller's. */
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

    /** Instead of adding the start, where it was added before. */
    resume({ nextChunkKey }: CorpusStart) {
      nextKey = nextChunkKey
    },

    /** Once all is there. */
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
