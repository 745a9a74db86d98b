import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { SharedStore } from '../../../packages/stores/src/opened-store.ts'
import { createPostgresStore } from '../../../packages/stores/src/postgres/postgres-store.ts'
import type { StoreData } from '../../contracts/open-store.ts'

/** A PostgreSQL server on which databases may be made; `.ci/run` starts one. */
export const SERVER_URL = process.env.TEST_DATABASE_URL ?? ''
export const hasPostgres = SERVER_URL !== ''

const SILENT = { info: () => undefined, warn: () => undefined }

export interface PostgresData extends StoreData {
  /** Of a database of its own, empty at first. */
  url: string
  open(options?: { queueLimit?: number; url?: string; leaseMs?: number }): Promise<SharedStore>
  /** Runs a statement beside the stores, as an operator with a shell might. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
}

export async function createPostgresData(): Promise<PostgresData> {
  const name = `agent_server_test_${randomUUID().replaceAll('-', '')}`
  await runSql(SERVER_URL, `CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(SERVER_URL), { pathname: `/${name}` }).href
  return {
    url,
    open: (options = {}) =>
      createPostgresStore({ url, poolSize: 6, queueLimit: 1_000, log: SILENT, ...options }),
    sql: (text, values) => runSql(url, text, values),
    empty: async () => void (await runSql(url, EMPTY)),
    async remove() {
      await runSql(SERVER_URL, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** Deletes all but the chunk keys, which no store uses twice: far cheaper than a database with its schema. */
const EMPTY = `DO $$
  DECLARE one regclass; is_used boolean;
  BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'agent_server'::regnamespace AND relkind = 'r'
      AND relname NOT IN ('meta', 'key_marks', 'counts', 'schema_version')
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one) INTO is_used;
      IF is_used THEN EXECUTE format('TRUNCATE %s CASCADE', one); END IF;
    END LOOP;
    UPDATE agent_server.counts SET pending = 0, processing = 0, ready = 0, failed = 0, chunks = 0, jobs = 0,
      changes = changes + 1;
  END $$`

/** Runs a statement as an operator with a shell might. */
export async function runSql(url: string, text: string, values?: unknown[]) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
