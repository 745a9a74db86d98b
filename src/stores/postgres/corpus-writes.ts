import type { Metadata } from '../../schemas/metadata.ts'
import { toHalfFloats } from '../chunk-codec.ts'
import type {
  CorpusChunks,
  CorpusDocument,
  CorpusPiece,
  CorpusRecord,
  CorpusStart,
} from '../corpus.ts'
import { integer } from '../rows.ts'
import { chunkColumns } from './chunks.ts'
import { fileToJson } from './codec.ts'
import type { Session } from './pool.ts'

const DOCUMENT = `
  INSERT INTO agent_server.documents (id, title, url, metadata, file, status, error_code, error_message,
    attempts, revision, served_revision, chunk_count, characters, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING number`
const METADATA = 'SELECT agent_server.keep_metadata($1, $2)'
const CONTENT = 'INSERT INTO agent_server.contents (document, revision, text) VALUES ($1, $2, $3)'
const KEY = `
  INSERT INTO agent_server.idempotency_keys (key, digest, document) VALUES ($1, $2, $3)`
const REPLACEMENT = `
  INSERT INTO agent_server.replacements (document, title, url, metadata, file, characters)
  VALUES ($1, $2, $3, $4, $5, $6)`
const JOB = {
  jobs: `
    INSERT INTO agent_server.jobs (document, revision, run_at, due_at) VALUES ($1, $2, $3, $3)`,
  moved_jobs: `
    INSERT INTO agent_server.moved_jobs (document, revision, run_at) VALUES ($1, $2, $3)`,
} as const
const CHUNKS = `
  INSERT INTO agent_server.chunks (document, revision, key, ordinal, start, "end", heading, text, page, page_end)
  SELECT $1, $2, * FROM unnest($3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::text[],
    $8::text[], $9::integer[], $10::integer[])`
const VECTORS = `
  INSERT INTO agent_server.vectors (key, vector)
  SELECT key, substring($2::bytea FROM (place::integer - 1) * $3::integer + 1 FOR $3::integer)
  FROM unnest($1::bigint[]) WITH ORDINALITY AS each (key, place)`
const EMBEDDING = `
  INSERT INTO agent_server.embeddings (vectors, model, dimension) VALUES ('current', $1, $2)`
const FILE = `
  INSERT INTO agent_server.files (document, revision, touched_at)
  VALUES ($1, $2, agent_server.now_ms()) RETURNING number`
const PIECE = 'INSERT INTO agent_server.file_pieces (file, ordinal, bytes) VALUES ($1, $2, $3)'
const NEXT_KEY = `UPDATE agent_server.meta SET value = $1 WHERE name = 'next_chunk_key'`
const COUNTS = `
  UPDATE agent_server.counts SET
    pending = (SELECT count(*) FROM agent_server.documents WHERE status = 'pending'),
    processing = 0,
    ready = (SELECT count(*) FROM agent_server.documents WHERE status = 'ready'),
    failed = (SELECT count(*) FROM agent_server.documents WHERE status = 'failed'),
    chunks = (SELECT count(*) FROM agent_server.chunks),
    jobs = (SELECT count(*) FROM agent_server.jobs)
  WHERE slot = 0`
const NO_OTHER_COUNTS = `
  UPDATE agent_server.counts
  SET pending = 0, processing = 0, ready = 0, failed = 0, chunks = 0, jobs = 0 WHERE slot <> 0`
/** Bytes of a number of a vector that is kept. */
const NUMBER_BYTES = 2

export interface CorpusWrites {
  add(record: CorpusRecord): Promise<void>
  /** Instead of adding the start, where it was added before: of what comes after. */
  resume(start: CorpusStart): void
  /** Counts what is there, once all of it is. */
  end(): Promise<void>
}

interface WriteOptions {
  /** The table that takes the jobs. */
  jobs: keyof typeof JOB
}

/** Fills an empty database, record by record, inside transactions of the caller's. */
export function createCorpusWrites(
  { run }: Pick<Session, 'run'>,
  { jobs }: WriteOptions = { jobs: 'jobs' },
): CorpusWrites {
  let start: CorpusStart | undefined
  let current = { number: 0, revision: 0 }
  let file: { number: number; revision: number; pieces: number } | undefined
  let nextKey = 0

  const begin = async (record: CorpusStart) => {
    start = record
    const { embedding } = record
    if (embedding) await run(EMBEDDING, [embedding.model, embedding.dimension])
  }
  const addDocument = async (record: CorpusDocument) => {
    const number = await insertDocument({ run }, record)
    const { dueAt, document } = record
    if (dueAt !== undefined) await run(JOB[jobs], [number, document.revision, dueAt])
    current = { number, revision: record.document.servedRevision ?? 0 }
    file = undefined
  }
  const addChunks = async ({ chunks, vectors }: CorpusChunks) => {
    await run(CHUNKS, [current.number, current.revision, ...chunkColumns(chunks)])
    nextKey = chunks.reduce((next, { key }) => Math.max(next, key + 1), nextKey)
    const { keys, dimension, values } = vectors
    if (keys.length === 0) return
    await run(VECTORS, [[...keys], toHalfFloats(values), NUMBER_BYTES * dimension])
  }
  const addPiece = async ({ revision, bytes }: CorpusPiece) => {
    if (file?.revision !== revision) {
      const [row] = await run(FILE, [current.number, revision])
      file = { number: integer(row, 'number'), revision, pieces: 0 }
    }
    if (bytes.length > 0) await run(PIECE, [file.number, file.pieces++, bytes])
  }

  return {
    async add(record) {
      if (record.kind === 'start') await begin(record)
      else if (record.kind === 'document') await addDocument(record)
      else if (record.kind === 'chunks') await addChunks(record)
      else await addPiece(record)
    },

    resume(record) {
      start = record
    },

    async end() {
      await run(NEXT_KEY, [Math.max(nextKey, start?.nextChunkKey ?? 0)])
      await run(COUNTS)
      await run(NO_OTHER_COUNTS)
    },
  }
}

async function insertDocument({ run }: Pick<Session, 'run'>, record: CorpusDocument) {
  const { document, contents, replacement, idempotency } = record
  const { id, title, url, metadata, file, status, error, attempts, revision } = document
  const [row] = await run(DOCUMENT, [
    ...[id, title, url, toJson(metadata), fileToJson(file), status, error?.code, error?.message],
    ...[attempts, revision, document.servedRevision, document.chunkCount, document.characters],
    ...[document.createdAt, document.updatedAt],
  ])
  const number = integer(row, 'number')
  if (metadata) await run(METADATA, [number, toJson(metadata)])
  for (const content of contents) await run(CONTENT, [number, content.revision, content.text])
  for (const { key, digest } of idempotency) await run(KEY, [key, digest, number])
  if (replacement) await insertReplacement({ run }, number, replacement)
  return number
}

async function insertReplacement(
  { run }: Pick<Session, 'run'>,
  number: number,
  replacement: NonNullable<CorpusDocument['replacement']>,
) {
  const { title, url, metadata, file, characters } = replacement
  await run(REPLACEMENT, [number, title, url, toJson(metadata), fileToJson(file), characters])
}

function toJson(value: Metadata | undefined): string | undefined {
  return value && JSON.stringify(value)
}
