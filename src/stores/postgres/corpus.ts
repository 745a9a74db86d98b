import { type Corpus, type CorpusRecord, checkedCorpus } from '../corpus.ts'
import { readCorpusFrom } from '../sql/read-corpus.ts'
import { integer } from '../sql/rows.ts'
import { createCorpusWrites } from '../sql/write-corpus.ts'
import { explainRefusal, openSession, type Session, withSession } from './connection.ts'
import { createCorpusCopies, refuseDocuments, tablesOf } from './corpus-copies.ts'
import { POSTGRES } from './dialect.ts'
import { codeOf, unavailable } from './error.ts'
import { migrate, STEPS } from './migrate.ts'

const VERSION = 'SELECT version FROM agent_server.schema_version'
const UNDEFINED_TABLE = '42P01'

/** The corpus in a database: read beside running servers, written while there is none. */
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

/** In one transaction: what other servers see is nothing, or all of it. */
async function fill(session: Session, records: AsyncIterable<CorpusRecord>): Promise<void> {
  await session.run('BEGIN')
  await session.run('LOCK TABLE agent_server.documents IN EXCLUSIVE MODE')
  await refuseDocuments(session)
  const writes = createCorpusWrites(session.run, tablesOf(session, 'jobs'))
  for await (const record of records) await writes.add(record)
  await writes.end()
  await session.run('COMMIT')
}
