import { AppError } from '../../errors.ts'
import { integer } from '../columns.ts'
import type { Corpus, CorpusRecord } from '../corpus.ts'
import { checkedCorpus } from '../corpus-check.ts'
import { createCorpusCopies, refuseDocuments } from './corpus-copy.ts'
import { readCorpusFrom } from './corpus-reads.ts'
import { createCorpusWrites } from './corpus-writes.ts'
import { migrate, STEPS } from './migrate.ts'
import { codeOf, toStoreError, unavailable } from './postgres-error.ts'
import { openSession, type Session } from './session.ts'

const VERSION = 'SELECT version FROM agent_server.schema_version'
const UNDEFINED_TABLE = '42P01'

/** The corpus in a database: read beside running servers, written while there is none. */
export function createPostgresCorpus(url: string): Corpus {
  return {
    copies: createCorpusCopies(url),

    async *readCorpus(signal, after) {
      const session = await open(url)
      try {
        await refuseOtherVersions(session)
        yield* readCorpusFrom(session, signal, after)
      } catch (error) {
        throw fromDatabase(error)
      } finally {
        await session.close()
      }
    },

    async writeCorpus(records, signal) {
      await migrate(url)
      const session = await open(url)
      try {
        await fill(session, checkedCorpus(records, signal))
      } catch (error) {
        throw fromDatabase(error)
      } finally {
        await session.close()
      }
    },
  }
}

async function open(url: string): Promise<Session> {
  try {
    return await openSession(url)
  } catch (error) {
    throw toStoreError(error)
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
  const writes = createCorpusWrites(session)
  for await (const record of records) await writes.add(record)
  await writes.end()
  await session.run('COMMIT')
}

/** What the records or the caller are at fault for stays as it is. */
function fromDatabase(error: unknown): unknown {
  if (error instanceof AppError || codeOf(error) === undefined) return error
  return toStoreError(error)
}
