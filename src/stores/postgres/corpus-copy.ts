import {
  type CopyCheckpoint,
  type CorpusCopies,
  type CorpusRecord,
  type CorpusStart,
  checkedCorpus,
  firstCheckpoint,
  nextCheckpoint,
} from '../corpus.ts'
import { integer, text } from '../rows.ts'
import { type CorpusWrites, createCorpusWrites } from './corpus-writes.ts'
import { codeOf, toStoreError, unavailable } from './error.ts'
import { LOCK, migrate } from './migrate.ts'
import { openSession, type Session } from './pool.ts'

/** What is done again where a copy was interrupted: a second's work. */
const RECORDS_PER_STEP = 500
/** The second half of the lock that keeps a second copy waiting. */
const COPYING = 9
/** A schema or a table that is not there. */
const UNDEFINED = ['3F000', '42P01']

const MARK = 'SELECT documents, chunks, digest FROM agent_server.moves'
const BEGIN_MARK = 'INSERT INTO agent_server.moves (documents, chunks, digest) VALUES ($1, $2, $3)'
const MOVE_MARK = 'UPDATE agent_server.moves SET documents = $1, chunks = $2, digest = $3'
const JOBS = `
  INSERT INTO agent_server.jobs (document, revision, run_at, due_at)
  SELECT document, revision, run_at, run_at FROM agent_server.moved_jobs`
const END = ['DELETE FROM agent_server.moved_jobs', 'DELETE FROM agent_server.moves']
const FORGET = ['TRUNCATE agent_server.documents CASCADE', 'DELETE FROM agent_server.embeddings']

/** Copies into a database that holds no documents, in steps that each survive. Others see the documents come, and cannot add any. */
export function createCorpusCopies(url: string): CorpusCopies {
  return {
    copied: () =>
      inSession(url, async (session) => {
        await prepare(session)
        return readMark(session)
      }),

    async continueAfter(after, records, signal) {
      await migrate(url)
      await inSession(url, (session) => copy(session, after, checkedCorpus(records, signal)))
    },

    async forget() {
      await inSession(url, async (session) => {
        await prepare(session)
        await session.run('BEGIN')
        if (!(await readMark(session))) return
        for (const statement of [...FORGET, ...END]) await session.run(statement)
        await session.run('COMMIT')
      })
    },
  }
}

/** Throws `store_unavailable` where only a part of a corpus has come. */
export async function refuseHalfCorpus(url: string): Promise<void> {
  const mark = await inSession(url, readMark).catch((error: unknown) => {
    throw toStoreError(error)
  })
  if (!mark) return
  throw unavailable(
    `Only ${mark.documents} documents of a corpus that is being moved have come into this database: run npm run migrate again until it is done`,
  )
}

async function readMark({ run }: Session): Promise<CopyCheckpoint | undefined> {
  const [row] = await run(MARK).catch((error: unknown) => {
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
  const writes = createCorpusWrites(session, { jobs: 'moved_jobs' })
  let mark: CopyCheckpoint | undefined
  let written = 0
  await prepare(session)
  await session.run('BEGIN')
  for await (const record of records) {
    if (record.kind === 'start') mark = await begin(session, writes, record, after)
    if (record.kind === 'document' && mark) {
      if (written >= RECORDS_PER_STEP) {
        await endStep(session, mark)
        written = 0
      }
      mark = nextCheckpoint(mark, record.document)
    }
    if (record.kind !== 'start') await writes.add(record)
    written++
  }
  await session.run(JOBS)
  for (const statement of END) await session.run(statement)
  await writes.end()
  await session.run('COMMIT')
}

/** Ends one transaction and begins the next. */
async function endStep(
  { run }: Session,
  { documents, chunks, digest }: CopyCheckpoint,
): Promise<void> {
  await run(MOVE_MARK, [documents, chunks, digest])
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
  const held = await readMark(session)
  if (held?.digest !== after?.digest) {
    throw new Error('Somebody else copies into this database, too: run it again')
  }
  if (held) {
    writes.resume(start)
    return held
  }
  await refuseDocuments(session)
  const mark = firstCheckpoint(start)
  await writes.add(start)
  await run(BEGIN_MARK, [mark.documents, mark.chunks, mark.digest])
  await endStep(session, mark)
  return mark
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

async function inSession<Result>(
  url: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await openSession(url).catch((error: unknown) => {
    throw toStoreError(error)
  })
  try {
    return await work(session)
  } catch (error) {
    // What the records or the caller are at fault for stays as it is.
    throw codeOf(error) === undefined ? error : toStoreError(error)
  } finally {
    await session.close()
  }
}
