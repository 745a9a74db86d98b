import type { Metadata } from '../../schemas/metadata.ts'
import { toHalfFloats } from '../chunk-codec.ts'
import {
  type CopyCheckpoint,
  type CorpusChunks,
  type CorpusCopies,
  type CorpusDocument,
  type CorpusPiece,
  type CorpusRecord,
  type CorpusStart,
  checkedCorpus,
  firstCheckpoint,
  nextCheckpoint,
} from '../corpus.ts'
import { integer, text } from '../rows.ts'
import { chunkColumns } from './chunks.ts'
import { fileToJson } from './codec.ts'
import { LOCK, type Session, withSession } from './connection.ts'
import { codeOf, toStoreError, unavailable } from './error.ts'
import { migrate } from './migrate.ts'

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

type CorpusWrites = ReturnType<typeof createCorpusWrites>

/** Fills an empty database, record by record, inside transactions of the caller's; `jobs` names the table that takes the jobs. */
export function createCorpusWrites({ run }: Pick<Session, 'run'>, jobs: keyof typeof JOB = 'jobs') {
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
    async add(record: CorpusRecord) {
      if (record.kind === 'start') await begin(record)
      else if (record.kind === 'document') await addDocument(record)
      else if (record.kind === 'chunks') await addChunks(record)
      else await addPiece(record)
    },

    /** Instead of adding the start, where it was added before. */
    resume(record: CorpusStart) {
      start = record
    },

    /** Counts what is there, once all of it is. */
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
  if (replacement) {
    const { title, url, metadata, file, characters } = replacement
    await run(REPLACEMENT, [number, title, url, toJson(metadata), fileToJson(file), characters])
  }
  return number
}

function toJson(value: Metadata | undefined): string | undefined {
  return value && JSON.stringify(value)
}

/** What is done again where a copy was interrupted: a second's work. */
const RECORDS_PER_STEP = 500
/** The second half of the lock that keeps a second copy waiting. */
const COPYING = 9
/** A schema or a table that is not there. */
const UNDEFINED = ['3F000', '42P01']

const CHECKPOINT = 'SELECT documents, chunks, digest FROM agent_server.moves'
const BEGIN_COPY = 'INSERT INTO agent_server.moves (documents, chunks, digest) VALUES ($1, $2, $3)'
const MOVE_CHECKPOINT = 'UPDATE agent_server.moves SET documents = $1, chunks = $2, digest = $3'
const MOVED_JOBS = `
  INSERT INTO agent_server.jobs (document, revision, run_at, due_at)
  SELECT document, revision, run_at, run_at FROM agent_server.moved_jobs`
const END = ['DELETE FROM agent_server.moved_jobs', 'DELETE FROM agent_server.moves']
const FORGET = ['TRUNCATE agent_server.documents CASCADE', 'DELETE FROM agent_server.embeddings']

/** Copies into a database that holds no documents, in steps that each survive. Others see the documents come, and cannot add any. */
export function createCorpusCopies(url: string): CorpusCopies {
  return {
    copied: () =>
      withSession(url, async (session) => {
        await prepare(session)
        return readCheckpoint(session)
      }),

    async continueAfter(after, records, signal) {
      await migrate(url)
      await withSession(url, (session) => copy(session, after, checkedCorpus(records, signal)))
    },

    async forget() {
      await withSession(url, async (session) => {
        await prepare(session)
        await session.run('BEGIN')
        if (!(await readCheckpoint(session))) return
        for (const statement of [...FORGET, ...END]) await session.run(statement)
        await session.run('COMMIT')
      })
    },
  }
}

/** Throws `store_unavailable` where only a part of a corpus has come. */
export async function refuseHalfCorpus(url: string): Promise<void> {
  const checkpoint = await withSession(url, readCheckpoint).catch((error: unknown) => {
    throw toStoreError(error)
  })
  if (!checkpoint) return
  throw unavailable(
    `Only ${checkpoint.documents} documents of a corpus that is being moved have come into this database: run npm run migrate again until it is done`,
  )
}

async function readCheckpoint({ run }: Session): Promise<CopyCheckpoint | undefined> {
  const [row] = await run(CHECKPOINT).catch((error: unknown) => {
    if (!UNDEFINED.includes(codeOf(error) ?? '')) throw error
    return []
  })
  return (
    row && {
      documents: integer(row, 'documents'),
      chunks: integer(row, 'chunks'),
      digest: text(row, 'digest'),
    }
  )
}

/** Waits for whoever copies now: one that was killed may still be at its last statement. */
async function prepare({ run }: Session): Promise<void> {
  await run(`SELECT pg_advisory_lock(${LOCK}, ${COPYING})`)
  await run(`SET agent_server.moving = 'on'`)
}

async function copy(
  session: Session,
  after: CopyCheckpoint | undefined,
  records: AsyncIterable<CorpusRecord>,
): Promise<void> {
  const writes = createCorpusWrites(session, 'moved_jobs')
  let checkpoint: CopyCheckpoint | undefined
  let written = 0
  await prepare(session)
  await session.run('BEGIN')
  for await (const record of records) {
    if (record.kind === 'start') checkpoint = await begin(session, writes, record, after)
    if (record.kind === 'document' && checkpoint) {
      if (written >= RECORDS_PER_STEP) {
        await endStep(session, checkpoint)
        written = 0
      }
      checkpoint = nextCheckpoint(checkpoint, record.document)
    }
    if (record.kind !== 'start') await writes.add(record)
    written++
  }
  await session.run(MOVED_JOBS)
  for (const statement of END) await session.run(statement)
  await writes.end()
  await session.run('COMMIT')
}

/** Ends one transaction and begins the next. */
async function endStep(
  { run }: Session,
  { documents, chunks, digest }: CopyCheckpoint,
): Promise<void> {
  await run(MOVE_CHECKPOINT, [documents, chunks, digest])
  await run('COMMIT')
  await run('BEGIN')
}

/** From here on nobody else adds documents. */
async function begin(
  session: Session,
  writes: CorpusWrites,
  start: CorpusStart,
  after: CopyCheckpoint | undefined,
): Promise<CopyCheckpoint> {
  const { run } = session
  await run('LOCK TABLE agent_server.documents IN EXCLUSIVE MODE')
  const held = await readCheckpoint(session)
  if (held?.digest !== after?.digest) {
    throw new Error('Somebody else copies into this database, too: run it again')
  }
  if (held) {
    writes.resume(start)
    return held
  }
  await refuseDocuments(session)
  const checkpoint = firstCheckpoint(start)
  await writes.add(start)
  await run(BEGIN_COPY, [checkpoint.documents, checkpoint.chunks, checkpoint.digest])
  await endStep(session, checkpoint)
  return checkpoint
}

/** Throws `store_unavailable` where the database holds documents. */
export async function refuseDocuments({ run }: Session): Promise<void> {
  const [found] = await run('SELECT count(*) AS documents FROM agent_server.documents')
  const documents = integer(found, 'documents')
  if (documents === 0) return
  throw unavailable(
    `There are ${documents} documents in this database already. Name an empty one in DATABASE_URL.`,
  )
}
