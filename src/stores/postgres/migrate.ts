import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { integer, text } from '../rows.ts'
import { toStoreError, unavailable } from './error.ts'
import { connectionSettings } from './pool.ts'
import { checkServer, SERVER } from './server-check.ts'

/** Step `n` brings the schema from version `n` to `n + 1`. One that has been released is never changed. */
export const STEPS: readonly URL[] = [
  '1-tables.sql',
  '2-functions.sql',
  '3-jobs.sql',
  '4-announcements.sql',
  '5-artifacts.sql',
  '6-accepted.sql',
  '7-claimed-metadata.sql',
  '8-announcers.sql',
  '9-moves.sql',
  '10-identity.sql',
].map((name) => new URL(`./migrations/${name}`, import.meta.url))

/** Servers that start together wait for the one that migrates. */
const MIGRATION_MS = 600_000

/** The first half of our advisory locks: "AgSv", as in the functions of the schema. */
export const LOCK = 1_097_302_902

const VERSION = `
  SELECT to_regclass('agent_server.schema_version') IS NOT NULL AS ours,
    EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('agent_server')) AS used, ${SERVER}`

/** The version of a database without our tables. */
const NEW = 0

interface Migration {
  from: number
  to: number
}

/**
 * Makes our schema, or brings it to the newest version, in one transaction that other servers wait for. Throws
 * `store_unavailable` for a schema of a newer server or of another program, and for a database that cannot do.
 */
export async function migrate(url: string, steps: readonly URL[] = STEPS): Promise<Migration> {
  const texts = await Promise.all(steps.map((step) => readFile(step, 'utf8')))
  const client = new pg.Client({
    ...connectionSettings(url),
    ...{ statement_timeout: MIGRATION_MS, lock_timeout: MIGRATION_MS },
  })
  // A connection that breaks rejects the statement under way; the event comes beside it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK}, 0)`)
    const from = await readVersion(client, texts.length)
    if (from < texts.length) await apply(client, texts.slice(from), texts.length)
    await client.query('COMMIT')
    return { from, to: texts.length }
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function readVersion(client: pg.Client, known: number): Promise<number> {
  const { rows } = await client.query(VERSION)
  const [schema] = rows
  checkServer({
    version: integer(schema, 'server_version'),
    versionName: text(schema, 'server_version_name'),
    encoding: text(schema, 'encoding'),
  })
  const isOurs = schema?.ours === true
  // One that is empty may have been made for us, where we may make none.
  if (!isOurs && schema?.used !== true) return NEW
  if (!isOurs) {
    throw unavailable(
      'The schema agent_server belongs to another program. Name a database of its own in DATABASE_URL.',
    )
  }
  const version = await client.query('SELECT version FROM agent_server.schema_version')
  const from = integer(version.rows[0], 'version')
  if (from <= known) return from
  throw unavailable(
    `The document store was written by a newer server (schema ${from}; this one knows up to ${known}). Start the newer server again, or restore a backup made before the upgrade.`,
  )
}

async function apply(client: pg.Client, texts: readonly string[], version: number): Promise<void> {
  const { rows } = await client.query(`SELECT to_regnamespace('agent_server') IS NULL AS missing`)
  if (rows[0]?.missing === true) await client.query('CREATE SCHEMA agent_server')
  await client.query(`
    CREATE TABLE IF NOT EXISTS agent_server.schema_version (version integer NOT NULL);
    SET LOCAL search_path = agent_server`)
  for (const text of texts) await client.query(text)
  await client.query('DELETE FROM schema_version')
  await client.query(`INSERT INTO schema_version VALUES (${version})`)
}
