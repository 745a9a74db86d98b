import { counted } from '@agent-server/lib/text/counted.ts'
import {
  type CopyCheckpoint,
  type CorpusRecord,
  type CorpusStart,
  type CorpusTarget,
  checkedCorpus,
  firstCheckpoint,
  nextCheckpoint,
} from '../corpus.ts'
import { addAccepted } from '../sql/accepted.ts'
import { createCorpusWrites, readCorpusFrom } from '../sql/corpus.ts'
import { noteChange } from '../sql/counts.ts'
import { integer, text } from '../sql/query.ts'
import { explainRefusal, LOCK, openSession, type Session, withSession } from './connection.ts'
import { POSTGRES } from './dialect.ts'
import { codeOf, toStoreError, unavailable } from './error.ts'
import { migrate, STEPS } from './migrate.ts'

// With the name of the schema: one that this user may not use would count as missing.
const VERSION = 'SELECT version FROM agent_server.schema_version'
const UNDEFINED_TABLE = '42P01'

/** How much is repeated after an interruption: about a second's work. */
const RECORDS_PER_STEP = 500
/** The second half of the lock that makes a second copy wait. */
const COPYING = 9
/** The codes of a missing schema and a missing table. */
const UNDEFINED = ['3F000', UNDEFINED_TABLE]

const CHECKPOINT = 'SELECT documents, chunks, digest FROM moves'
const BEGIN_COPY = 'INSERT INTO moves (documents, chunks, digest) VALUES ($1, $2, $3)'
const MOVE_CHECKPOINT = 'UPDATE moves SET documents = $1, chunks = $2, digest = $3'
const MOVED_JOBS = `
  INSERT INTO jobs (document, revision, run_at, due_at)
  SELECT document, revision, run_at, run_at FROM moved_jobs`
const END = ['DELETE FROM moved_jobs', 'DELETE FROM moves']
const FORGET = ['TRUNCATE documents CASCADE', 'DELETE FROM embeddings']

/**
 * The corpus in a database: read beside running servers. It is copied into one without documents, in steps that are each
 * durable. Others see the documents arrive, and cannot add any.
 */
export function createPostgresCorpus(url: string): CorpusTarget {
  return {
    async *readCorpus(signal, after) {
      const session = await openSession(url)
      try {
        await refuseOtherVersions(session)
        await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        yield* readCorpusFrom(session, signal, after)
      } catch (error) {
        throw explainRefusal(error)
      } finally {
        await session.close()
      }
    },

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
        await noteChange(session, POSTGRES)
        await session.run('COMMIT')
      })
    },

    addAccepted: (accepted) =>
      withSession(url, async (session) => {
        await session.run('BEGIN')
        await addAccepted(session, accepted)
        await session.run('COMMIT')
      }),
  }
}

export async function refuseOtherVersions(session: Session): Promise<void> {
  const row = await session.one(VERSION).catch((error: unknown) => {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error
    throw unavailable('This database contains no documents: check DATABASE_URL')
  })
  if (integer(row, 'version') === STEPS.length) return
  throw unavailable('The database belongs to another version of the server: start this one once')
}

/** Throws `store_unavailable` if only a part of a corpus has been copied. */
export async function refuseHalfCorpus(url: string): Promise<void> {
  const checkpoint = await withSession(url, readCheckpoint).catch((error: unknown) => {
    throw toStoreError(error)
  })
  if (!checkpoint) return
  throw unavailable(
    `Of a corpus that is being moved, only ${counted(checkpoint.documents, 'document')} came into this database: run npm run migrate again until it is done`,
  )
}

async function readCheckpoint({ one }: Session): Promise<CopyCheckpoint | undefined> {
  const row = await one(CHECKPOINT).catch((error: unknown) => {
    if (!UNDEFINED.includes(codeOf(error) ?? '')) throw error
    return undefined
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
  const writes = createCorpusWrites(session, POSTGRES)
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
  session: Session,
  { documents, chunks, digest }: CopyCheckpoint,
): Promise<void> {
  await session.run(MOVE_CHECKPOINT, [documents, chunks, digest])
  await noteChange(session, POSTGRES)
  await session.run('COMMIT')
  await session.run('BEGIN')
}

/** From here on nobody else can add documents. */
async function begin(
  session: Session,
  writes: ReturnType<typeof createCorpusWrites>,
  start: CorpusStart,
  after: CopyCheckpoint | undefined,
): Promise<CopyCheckpoint> {
  const { run } = session
  await run('LOCK TABLE documents IN EXCLUSIVE MODE')
  const last = await readCheckpoint(session)
  if (last?.digest !== after?.digest) {
    throw new Error('Another process is also copying into this database: run the command again')
  }
  if (last) {
    writes.resume(start)
    return last
  }
  await refuseDocuments(session)
  const checkpoint = firstCheckpoint(start)
  await writes.add(start)
  await run(BEGIN_COPY, [checkpoint.documents, checkpoint.chunks, checkpoint.digest])
  await endStep(session, checkpoint)
  return checkpoint
}

/** Throws `store_unavailable` if the database contains documents. */
async function refuseDocuments({ one }: Session): Promise<void> {
  const row = await one('SELECT count(*) AS documents FROM documents')
  const documents = integer(row, 'documents')
  if (documents === 0) return
  throw unavailable(
    `This database already contains ${counted(documents, 'document')}. Set DATABASE_URL to an empty database.`,
  )
}
