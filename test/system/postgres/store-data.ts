import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { SharedStore } from '../../../src/stores/opened-store.ts'
import { createPostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
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
    async remove() {
      await runSql(SERVER_URL, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

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
