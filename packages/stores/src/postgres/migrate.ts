import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { CopyPolicy } from '../opened-store.ts'
import { PROGRAM } from '../program.ts'
import { newerThan } from '../sql/newer.ts'
import { integer, optionalText, text } from '../sql/query.ts'
import { STEP_FILES } from '../steps.ts'
import { LOCK, openSession, type Session } from './connection.ts'
import { isInTheWay, toStoreError, unavailable } from './error.ts'

export const STEPS: readonly URL[] = STEP_FILES.map((file) => new URL(file, import.meta.url))

/** The functions of the schema use syntax that PostgreSQL 14 introduced. */
const MIN_VERSION = 140_000
const ENCODING = 'UTF8'

const VERSION = `
  SELECT to_regclass('agent_server.schema_version') IS NOT NULL AS ours,
    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agent_server')) AS used,
    current_setting('server_version_num')::integer AS server_version,
    current_setting('server_version') AS server_version_name,
    current_setting('server_encoding') AS encoding`

/** The version of a database without our tables. */
const NEW = 0

/**
 * Creates our schema, or migrates it to the newest version, in one transaction that other servers wait for. Throws
 * `store_unavailable` for a schema of a newer server or of another program, and for an unsuitable database.
 */
export async function migrate(
  url: string,
  steps: readonly URL[] = STEPS,
  copyPolicy: CopyPolicy = 'try',
): Promise<{ from: number; to: number }> {
  const start = performance.now()
  for (;;) {
    try {
      return await migrateOnce(url, steps, copyPolicy)
    } catch (error) {
      if (!isInTheWay(error) || performance.now() - start > TRYING_MS) throw toStoreError(error)
    }
    await pause(Math.random() * PAUSE_MS)
  }
}

async function migrateOnce(url: string, steps: readonly URL[], copyPolicy: CopyPolicy) {
  const session = await openSession(url)
  try {
    await session.run('BEGIN')
    const from = await lockSchema(session, steps.length)
    const isUpgrade = from > NEW && from < steps.length
    if (copyPolicy === 'require' && isUpgrade) throw unavailable(COPY_FIRST)
    if (isUpgrade) await lockTables(session)
    await applySteps(session, steps)
    await session.run('COMMIT')
    return { from, to: steps.length }
  } finally {
    await session.close()
  }
}

/** How long to try, while others hold tables again and again. */
const TRYING_MS = 120_000
const PAUSE_MS = 2_000
/** Servers of the version before wait for whoever waits. Longer than `deadlock_timeout`, after which autovacuum gives way. */
const TABLES_MS = 2_000
/** For all tables together. */
const ALL_TABLES_MS = 4_000
/** After that, the tables of a server that is gone with its machine are free again. */
const IDLE_MS = 60_000
const TABLES = `SELECT string_agg(format('agent_server.%I', relname), ', ' ORDER BY relname) AS names
  FROM pg_class WHERE relnamespace = 'agent_server'::regnamespace AND relkind = 'r'`

/** Where the system can tell that a connection has ended, a statement whose server was killed ends, too. */
const NOTICE_LOSS = `DO $$ BEGIN
  PERFORM set_config('client_connection_check_interval', '1000', true);
EXCEPTION WHEN OTHERS THEN NULL; END $$`

/**
 * Takes all tables from servers of the version before, at once, so that no step waits while it holds some of them. The
 * steps that follow take as long as they need.
 */
async function lockTables({ one, run }: Session): Promise<void> {
  const unprepared = `LOCK TABLE ${text(await one(TABLES), 'names')} IN ACCESS EXCLUSIVE MODE`
  await run(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`)
  await run({ unprepared: NOTICE_LOSS })
  await run(`SET LOCAL lock_timeout = ${TABLES_MS}`)
  await run(`SET LOCAL statement_timeout = ${ALL_TABLES_MS}`)
  await run({ unprepared })
  await run('SET LOCAL lock_timeout = 0')
  await run('SET LOCAL statement_timeout = 0')
}

const COPY_FIRST =
  'The database is of an earlier version. Back it up with that version (npm run backup) or with pg_dump, then start this one with BACKUP_BEFORE_UPGRADE=off.'

/** Makes other servers wait until the transaction ends. Returns the version; throws like `migrate`. */
export async function lockSchema(session: Session, newest = STEPS.length): Promise<number> {
  await session.run(`SELECT pg_advisory_xact_lock(${LOCK}, 0)`)
  return readVersion(session, newest)
}

/** Takes the steps that the schema has not taken yet, within the transaction. */
export async function applySteps(session: Session, steps: readonly URL[]): Promise<void> {
  const from = await readVersion(session, steps.length)
  const texts = await Promise.all(steps.slice(from).map((step) => readFile(step, 'utf8')))
  if (texts.length > 0) await apply(session, texts, steps.length)
}

/** 0 without our tables; throws like `migrate`. */
export async function readVersion(session: Session, newest: number): Promise<number> {
  const schema = await session.one(VERSION)
  checkServer({
    version: integer(schema, 'server_version'),
    versionName: text(schema, 'server_version_name'),
    encoding: text(schema, 'encoding'),
  })
  const isOurs = schema?.ours === true
  // An empty schema may have been created for us, if we are not allowed to create one.
  if (!isOurs && schema?.used !== true) return NEW
  if (!isOurs) {
    throw unavailable(
      'The schema agent_server belongs to another program. Set DATABASE_URL to a separate database.',
    )
  }
  // One that was made before the program was noted has no such column.
  const row = await session.one(
    `SELECT version, to_jsonb(schema_version) ->> 'program' AS program FROM agent_server.schema_version`,
  )
  const version = integer(row, 'version')
  if (version <= newest) return version
  const program = optionalText(row, 'program')
  throw unavailable(newerThan(newest, { version, program }))
}

async function apply(
  { one, run }: Session,
  texts: readonly string[],
  version: number,
): Promise<void> {
  const schema = await one(`SELECT to_regnamespace('agent_server') IS NULL AS missing`)
  if (schema?.missing === true) await run('CREATE SCHEMA agent_server')
  await run('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)')
  await run('ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS program text')
  for (const text of texts) await run({ unprepared: text })
  await run('DELETE FROM schema_version')
  await run('INSERT INTO schema_version (version, program) VALUES ($1, $2)', [version, PROGRAM])
}

interface ServerFacts {
  version: number
  versionName: string
  encoding: string
}

/** Throws `store_unavailable`, with the remedy, for a server or database that cannot hold the documents. */
export function checkServer({ version, versionName, encoding }: ServerFacts): void {
  if (version < MIN_VERSION) {
    throw unavailable(`PostgreSQL 14 or later is needed; this is ${versionName}`)
  }
  if (encoding === ENCODING) return
  throw unavailable(
    `The database cannot store every character: its encoding is ${encoding}. Set DATABASE_URL to a database created with ENCODING 'UTF8' TEMPLATE template0.`,
  )
}
