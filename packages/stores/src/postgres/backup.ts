import type { Backup, BackupRecord, BackupStart } from '../backup.ts'
import {
  checkedBackup,
  endClaims,
  readBackupFrom,
  refuseDataIn,
  type Tables,
  writeRows,
} from '../sql/backup.ts'
import { integer, type Row, text } from '../sql/query.ts'
import {
  explainRefusal,
  openSession,
  refuseRunning,
  type Session,
  withSession,
} from './connection.ts'
import { refuseOtherVersions } from './corpus.ts'
import { applySteps, lockSchema, STEPS } from './migrate.ts'

/** The database: read beside running servers, written while there are none. */
export function createPostgresBackup(url: string): Backup {
  return {
    async *read(signal) {
      const session = await openSession(url)
      try {
        await refuseOtherVersions(session)
        await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        yield* readBackupFrom(await sourceOf(session), signal)
      } catch (error) {
        throw explainRefusal(error)
      } finally {
        await session.close()
      }
    },

    refuseData: () => withSession(url, refuseData),

    write: (records, beforeEnd, signal) =>
      withSession(url, async (session) => {
        await session.run('BEGIN')
        await fill(session, checkedBackup(records, STEPS.length, signal))
        await beforeEnd()
        await session.run('COMMIT')
      }),
  }
}

const OURS = `relnamespace = to_regnamespace('agent_server')`
const TABLES = `SELECT relname::text AS name FROM pg_class WHERE ${OURS} AND relkind = 'r'`
const REFERENCES = `SELECT child.relname::text AS child, parent.relname::text AS parent, conname::text AS name
  FROM pg_constraint JOIN pg_class child ON child.oid = conrelid JOIN pg_class parent ON parent.oid = confrelid
  WHERE contype = 'f' AND child.${OURS}`
/** The columns whose values the database gives out. */
const NUMBERED = `SELECT tables.relname::text AS name, attname::text AS "column", objid::bigint AS sequence,
    pg_sequence_last_value(objid) AS last
  FROM pg_depend JOIN pg_class sequences ON sequences.oid = objid AND sequences.relkind = 'S'
  JOIN pg_class tables ON tables.oid = refobjid
  JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
  WHERE deptype = 'i' AND tables.${OURS}`

async function tablesOf({ all }: Session): Promise<Tables> {
  const references = await all(REFERENCES)
  return {
    names: (await all(TABLES)).map((row) => text(row, 'name')),
    references: references.map((row) => ({ from: text(row, 'child'), to: text(row, 'parent') })),
  }
}

async function sourceOf(session: Session) {
  const { all, one } = session
  const numbered = (await all(NUMBERED)).filter(({ last }) => last !== null)
  return {
    tables: await tablesOf(session),
    start: {
      schema: integer(await one('SELECT version FROM schema_version'), 'version'),
      store: 'PostgreSQL' as const,
      numbers: Object.fromEntries(numbered.map((row) => [text(row, 'name'), integer(row, 'last')])),
    },
    count: async (select: string) => integer(await one({ unprepared: select }), 'n'),
    batches: (table: string, select: string) => inBatches(session, { table, select }),
  }
}

/** Rows at a time, and of tables whose rows may hold a megabyte and more, whatever those before held. */
const MAX_ROWS = 256
const MAX_LARGE_ROWS = 4
const LARGE = new Set([
  'artifacts',
  'contents',
  'conversation_items',
  'file_pieces',
  'skill_copies',
])

/** The rows of a table by a cursor. */
async function* inBatches(
  { all, run }: Session,
  { table, select }: { table: string; select: string },
): AsyncGenerator<readonly Row[]> {
  const most = LARGE.has(table) ? MAX_LARGE_ROWS : MAX_ROWS
  await run({ unprepared: `DECLARE rows NO SCROLL CURSOR FOR ${select}` })
  for (;;) {
    const rows = await all({ unprepared: `FETCH ${most} FROM rows` })
    yield rows
    if (rows.length < most) break
  }
  await run('CLOSE rows')
}

const REMEDY = 'Set DATABASE_URL to an empty database.'

async function refuseData(session: Session): Promise<void> {
  await refuseRunning(session)
  await refuseDataIn(session, (await tablesOf(session)).names, REMEDY)
}

async function fill(session: Session, records: AsyncIterable<BackupRecord>): Promise<void> {
  let start: BackupStart | undefined
  for await (const record of records) {
    if (record.kind === 'rows') await writeRows(session, record, 'OVERRIDING SYSTEM VALUE')
    else {
      start = record
      await begin(session, record)
    }
  }
  await session.run({ unprepared: 'SET CONSTRAINTS ALL IMMEDIATE' })
  await referToThemselves(session, 'NOT DEFERRABLE')
  for (const row of await session.all(NUMBERED)) {
    const [name, column] = [text(row, 'name'), text(row, 'column')]
    await session.all(
      {
        unprepared: `SELECT setval($1::oid::regclass, greatest($2, max("${column}"))) FROM "${name}" HAVING greatest($2, max("${column}")) > 0`,
      },
      [integer(row, 'sequence'), start?.numbers[name] ?? 0],
    )
  }
  await endClaims(session)
  await applySteps(session, STEPS)
}

/** An empty schema of the version that the rows have. */
async function begin(session: Session, { schema }: BackupStart): Promise<void> {
  const version = await lockSchema(session)
  await refuseData(session)
  if (version !== 0 && version !== schema) await session.run('DROP SCHEMA agent_server CASCADE')
  await applySteps(session, STEPS.slice(0, schema))
  // A server that has been started here has reserved keys of chunks, of which none exists.
  await session.run('DELETE FROM key_marks')
  await session.run('LOCK TABLE documents IN EXCLUSIVE MODE')
  await referToThemselves(session, 'DEFERRABLE INITIALLY DEFERRED')
}

/** A row may come before the one of the same table that it refers to. */
async function referToThemselves({ all, run }: Session, how: string): Promise<void> {
  for (const row of await all(REFERENCES)) {
    const [table, parent, name] = ['child', 'parent', 'name'].map((column) => text(row, column))
    if (table !== parent) continue
    await run({ unprepared: `ALTER TABLE "${table}" ALTER CONSTRAINT "${name}" ${how}` })
  }
}
