import { toHalfFloats } from '../chunk-codec.ts'
import {
  type CopyCheckpoint,
  type Corpus,
  type CorpusCopies,
  type CorpusRecord,
  type CorpusStart,
  checkedCorpus,
  firstCheckpoint,
  nextCheckpoint,
} from '../corpus.ts'
import { type CorpusTables, createCorpusWrites, readCorpusFrom } from '../sql/corpus.ts'
import { integer, text } from '../sql/rows.ts'
import { chunkColumns } from './chunks.ts'
import { explainRefusal, LOCK, openSession, type Session, withSession } from './connection.ts'
import { POSTGRES } from './dialect.ts'
import { codeOf, toStoreError, unavailable } from './error.ts'
import { migrate, STEPS } from './migrate.ts'

const VERSION = 'SELECT version FROM agent_server.schema_version'
const UNDEFINED_TABLE = '42P01'

/** The corpus in a database: read beside running servers, written while there are none. */
export function createPostgresCorpus(url: string): Corpus {
  return {
    copies: createCorpusCopies(url),

    async *readCorpus(signal, after) {
      const session = await openSession(url)
      try {
        await refuseOtherVersions(session)
        await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        yield* readCorpusFrom(session.run, POSTGRES, signal, after)
      } catch (error) {
        throw explainRefusal(error)
      } finally {
        await session.close()
      }
    },

    async writeCorpus(records, signal) {
      await migrate(url)
      await withSession(url, (session) => fill(session, checkedCorpus(records, signal)))
    },
  }
}

async function refuseOtherVersions(session: Session): Promise<void> {
  const [row] = await session.run(VERSION).catch((error: unknown) => {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error
    throw unavailable('There are no documents in this database: look at DATABASE_URL')
  })
  if (integer(row, 'version') === STEPS.length) return
  throw unavailable('The database is of another version of the server: start this one once')
}

/** Runs in one transaction: other servers see nothing, or all of it. */
async function fill(session: Session, records: AsyncIterable<CorpusRecord>): Promise<void> {
  await session.run('BEGIN')
  await session.run('LOCK TABLE agent_server.documents IN EXCLUSIVE MODE')
  await refuseDocuments(session)
  const writes = createCorpusWrites(session.run, tablesOf(session, 'jobs'))
  for await (const record of records) await writes.add(record)
  await writes.end()
  await session.run('COMMIT')
}

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
const FILE = `
  INSERT INTO agent_server.files (document, revision, touched_at)
  VALUES ($1, $2, agent_server.now_ms()) RETURNING number`
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
/** The size of one number of a stored vector. */
const NUMBER_BYTES = 2

/** How a database is filled; `jobs` is the table that takes the jobs. */
function tablesOf({ run }: Session, jobs: keyof typeof JOB): CorpusTables {
  return {
    schema: 'agent_server',
    job: JOB[jobs],
    file: FILE,
    metadata: 'SELECT agent_server.keep_metadata($1, $2)',
    async insertChunks(document, revision, chunks) {
      await run(CHUNKS, [document, revision, ...chunkColumns(chunks)])
    },
    async insertVectors({ keys, dimension, values }) {
      await run(VECTORS, [[...keys], toHalfFloats(values), NUMBER_BYTES * dimension])
    },
    counts: [COUNTS, NO_OTHER_COUNTS],
  }
}

/** How much is repeated after an interruption: about a second's work. */
const RECORDS_PER_STEP = 500
/** The second half of the lock that makes a second copy wait. */
const COPYING = 9
/** The codes of a missing schema and a missing table. */
const UNDEFINED = ['3F000', UNDEFINED_TABLE]

const CHECKPOINT = 'SELECT documents, chunks, digest FROM agent_server.moves'
const BEGIN_COPY = 'INSERT INTO agent_server.moves (documents, chunks, digest) VALUES ($1, $2, $3)'
const MOVE_CHECKPOINT = 'UPDATE agent_server.moves SET documents = $1, chunks = $2, digest = $3'
const MOVED_JOBS = `
  INSERT INTO agent_server.jobs (document, revision, run_at, due_at)
  SELECT document, revision, run_at, run_at FROM agent_server.moved_jobs`
const END = ['DELETE FROM agent_server.moved_jobs', 'DELETE FROM agent_server.moves']
const FORGET = ['TRUNCATE agent_server.documents CASCADE', 'DELETE FROM agent_server.embeddings']

/**
 * Copies into a database without documents, in steps that are each durable. Others see the documents arrive, and cannot
 * add any.
 */
function createCorpusCopies(url: string): CorpusCopies {
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

/** Throws `store_unavailable` if only a part of a corpus has been copied. */
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

/** Waits for any other copy: one that was killed may still be executing its last statement. */
async function prepare({ run }: Session): Promise<void> {
  await run(`SELECT pg_advisory_lock(${LOCK}, ${COPYING})`)
  await run(`SET agent_server.moving = 'on'`)
}

async function copy(
  session: Session,
  after: CopyCheckpoint | undefined,
  records: AsyncIterable<CorpusRecord>,
): Promise<void> {
  const writes = createCorpusWrites(session.run, tablesOf(session, 'moved_jobs'))
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

/** Commits one transaction and begins the next. */
async function endStep(
  { run }: Session,
  { documents, chunks, digest }: CopyCheckpoint,
): Promise<void> {
  await run(MOVE_CHECKPOINT, [documents, chunks, digest])
  await run('COMMIT')
  await run('BEGIN')
}

/** From here on nobody else can add documents. */
async function begin(
  session: Session,
  writes: ReturnType<typeof createCorpusWrites>,
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

/** Throws `store_unavailable` if the database contains documents. */
async function refuseDocuments({ run }: Session): Promise<void> {
  const [found] = await run('SELECT count(*) AS documents FROM agent_server.documents')
  const documents = integer(found, 'documents')
  if (documents === 0) return
  throw unavailable(
    `There are ${documents} documents in this database already. Name an empty one in DATABASE_URL.`,
  )
}
