import pg from 'pg'
import type { Row } from '../rows.ts'
import { readColumn, toParameter, type Value } from './codec.ts'
import { isLost, unavailable } from './error.ts'

/** To connect, or to wait for a connection that is free. */
const CONNECT_MS = 5_000
/** What the database itself gives a statement, and a statement's wait for a lock. */
const STATEMENT_MS = 60_000
const LOCK_MS = 10_000
/** Nothing of ours keeps a transaction open over two statements. */
const IDLE_TRANSACTION_MS = 10_000
const IDLE_MS = 30_000
const KEEP_ALIVE_MS = 10_000
/** So that connections follow a database that has moved. */
const LIFETIME_SECONDS = 1_800
const MAX_WAITING = 4_096
const COMMON_TLS = new Set(['disable', 'prefer', 'require', 'verify-ca', 'verify-full'])

export interface Statement {
  /** Prepared under this name on each connection; without, planned anew each time. */
  name?: string
  text: string
  /** After which the answer is not waited for any more. */
  milliseconds: number
}

interface StatementPool {
  run(statement: Statement, values: readonly unknown[]): Promise<Row[]>
  /** Resolves when every connection is closed; none may be in use. */
  close(): Promise<void>
}

export interface PoolOptions {
  url: string
  /** The most connections. */
  size: number
  log: { warn(fields: object, message: string): void }
}

/** Settings of every connection, those of notifications included. What the URL says comes before them. */
export function connectionSettings(url: string) {
  return {
    connectionString: withCommonTls(url),
    application_name: 'agent-server',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser: readColumn },
  }
}

/**
 * Runs statements on a bounded number of connections, each made when it is needed and left when it is broken.
 * Rejects with the client library's errors.
 */
export function createStatementPool({ url, size, log }: PoolOptions): StatementPool {
  const open = () => {
    const fresh = new pg.Pool({
      ...connectionSettings(url),
      max: size,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: LIFETIME_SECONDS,
    })
    fresh.on('error', ({ message }) => {
      log.warn({ reason: message }, 'a connection to the document store was lost')
    })
    // One that breaks while it is used rejects its statement; the event comes beside it, and must be heard.
    fresh.on('connect', (client) => client.on('error', ignore))
    return fresh
  }
  let pool = open()
  let answeredAt = 0

  /** Where nothing answers, all connections are likely to be dead, and each would be waited for. */
  const startAfresh = (of: pg.Pool) => {
    if (of !== pool) return
    pool = open()
    void of.end()
  }

  const runOn = async (client: pg.PoolClient, statement: Statement, values: readonly unknown[]) => {
    const { name, text, milliseconds } = statement
    const query = {
      ...(name && { name }),
      text,
      values: [...values],
      query_timeout: milliseconds,
    }
    const { rows } = await client.query<Row>(query)
    return rows
  }

  return {
    async run(statement, values) {
      if (pool.waitingCount >= MAX_WAITING) {
        throw unavailable('Too many statements wait for the document store')
      }
      const used = pool
      const begun = performance.now()
      const client = await used.connect()
      try {
        const rows = await runOn(client, statement, values)
        answeredAt = performance.now()
        client.release()
        return rows
      } catch (error) {
        client.release(isLost(error))
        const isLate = performance.now() - begun >= statement.milliseconds
        if (isLost(error) && isLate && answeredAt < begun) startAfresh(used)
        throw error
      }
    },
    close: () => pool.end(),
  }
}

/**
 * `sslmode` as every client of PostgreSQL understands it: `require` encrypts, `verify-ca` and `verify-full` also look
 * at the certificate. The library by itself takes all of them for `verify-full`, and warns on standard error.
 */
function withCommonTls(url: string): string {
  const common = new URL(url)
  const isCommon = COMMON_TLS.has(common.searchParams.get('sslmode') ?? '')
  if (isCommon) common.searchParams.set('uselibpqcompat', 'true')
  return common.href
}

const ignore = () => undefined

const SESSION_STATEMENT_MS = 600_000

/** A connection of its own, for what takes more than one statement and is nobody's wait. */
export interface Session {
  run(text: string, values?: readonly Value[]): Promise<Row[]>
  /** Ends the connection, and a transaction that is not committed with it. */
  close(): Promise<void>
}

/** Rejects with the client library's errors. `onLost` hears that the connection has ended, however that came. */
export async function openSession(url: string, onLost = () => undefined): Promise<Session> {
  const client = new pg.Client({
    ...connectionSettings(url),
    // Whoever takes the records of a corpus may be slow, and waits for locks as long as it takes.
    idle_in_transaction_session_timeout: 0,
    ...{
      statement_timeout: SESSION_STATEMENT_MS,
      lock_timeout: SESSION_STATEMENT_MS,
    },
  })
  // A connection that breaks rejects the statement under way; the event comes beside it.
  client.on('error', onLost)
  client.on('end', onLost)
  await client.connect()
  return {
    async run(text, values = []) {
      return (await client.query<Row>(text, values.map(toParameter))).rows
    },
    close: () => client.end().catch(() => undefined),
  }
}
