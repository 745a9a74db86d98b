import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { untilAborted } from '../../lib/abort.ts'
import type { Statement, Value } from '../sql/query.ts'
import { integer, type Row } from '../sql/rows.ts'
import { toParameter } from './codec.ts'
import { connectionSettings } from './connection.ts'
import { isLost, isWorthAnotherTry, toStoreError, unavailable } from './error.ts'

const IDLE_MS = 30_000
/** Limited, so that connections follow a database that has moved. */
const LIFETIME_SECONDS = 1_800
const MAX_WAITING = 4_096
const ANSWER_MS = 10_000
/** Two writes that conflicted are unlikely to do so again. */
const MAX_TRIES = 6
const PAUSE_MS = 20
const CLOSE_MS = 10_000

interface PoolOptions {
  url: string
  /** The maximum number of connections. */
  size: number
  log: { warn(fields: object, message: string): void }
}

export type Database = ReturnType<typeof openDatabase>

/**
 * Runs the store's statements, each in its own transaction. Rejects with an `AppError`: `store_unavailable`, within a
 * bounded time, whatever happens to the database, and the errors that our functions raise. Half of the connections are
 * for reading, so that a flood of writes delays no query.
 */
export function openDatabase({ url, size, log }: PoolOptions) {
  const readers = createPool({ url, size: Math.ceil(size / 2), log })
  const writers = createPool({ url, size: Math.max(1, Math.floor(size / 2)), log })
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  const track = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed) return Promise.reject(unavailable('The document store is closed'))
    const running = work().catch((error: unknown) => {
      throw toStoreError(error)
    })
    underWay.add(running)
    const forget = () => underWay.delete(running)
    running.then(forget, forget)
    return running
  }

  return {
    /** For statements that may safely be sent twice. */
    read: (statement: Statement, values: readonly Value[] = [], milliseconds = ANSWER_MS) =>
      track(() => {
        const run = () => readers.run(statement, values.map(toParameter), milliseconds)
        const begun = performance.now()
        return run().catch((error: unknown) => {
          // A connection that died while idle is only noticed by the first statement on it.
          if (isLost(error) && performance.now() - begun < PAUSE_MS) return run()
          throw error
        })
      }),

    /** Sends a statement again only if it is known to have had no effect. */
    write: (statement: Statement, values: readonly Value[] = [], milliseconds = ANSWER_MS) =>
      track(() => again(() => writers.run(statement, values.map(toParameter), milliseconds))),

    /** Refuses new statements, and waits for those in flight. */
    async close() {
      isClosed = true
      const late = pause(CLOSE_MS, undefined, { ref: false })
      await Promise.race([Promise.allSettled(underWay), late])
      await Promise.race([Promise.all([readers.close(), writers.close()]), late])
    },
  }
}

async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isWorthAnotherTry(error) || tries === MAX_TRIES) throw error
    }
    await pause(Math.random() * PAUSE_MS * tries)
  }
}

/**
 * Runs statements on a bounded number of connections, each opened on demand and dropped when it breaks. Rejects with
 * the client library's errors.
 */
function createPool({ url, size, log }: PoolOptions) {
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
    // A connection that breaks while in use rejects its statement, and emits this event, which needs a listener.
    fresh.on('connect', (client) => client.on('error', () => undefined))
    return fresh
  }
  let pool = open()
  let answeredAt = 0

  /** If nothing answers, probably all connections are dead. They are dropped together, to avoid waiting for each. */
  const startAfresh = (of: pg.Pool) => {
    if (of !== pool) return
    pool = open()
    void of.end()
  }

  return {
    async run(statement: Statement, values: unknown[], milliseconds: number): Promise<Row[]> {
      if (pool.waitingCount >= MAX_WAITING) {
        throw unavailable('Too many statements wait for the document store')
      }
      const used = pool
      const begun = performance.now()
      const client = await used.connect()
      try {
        const query = { ...toQuery(statement), values, query_timeout: milliseconds }
        const { rows } = await client.query<Row>(query)
        answeredAt = performance.now()
        client.release()
        return rows
      } catch (error) {
        client.release(isLost(error))
        const isLate = performance.now() - begun >= milliseconds
        if (isLost(error) && isLate && answeredAt < begun) startAfresh(used)
        throw error
      }
    },
    /** Resolves when all connections are closed; none may be in use. */
    close: () => pool.end(),
  }
}

/** A named statement is prepared once on each connection. */
function toQuery(statement: Statement) {
  if (typeof statement !== 'string') return { text: statement.made }
  return { name: hash('sha1', statement), text: statement }
}

const CHECK_MS = 5_000
const WRITE_CHECK = `UPDATE agent_server.meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`
const READ_CHECK = `SELECT value FROM agent_server.meta WHERE name = 'last_check'`

/** Throws `store_unavailable` if the database does not store a write and return it in time. */
export async function checkDatabase(database: Database, signal: AbortSignal): Promise<void> {
  const check = async () => {
    const [written] = await database.write(WRITE_CHECK, [], CHECK_MS)
    const [seen] = await database.read(READ_CHECK, [], CHECK_MS)
    if (integer(seen, 'value') < integer(written, 'value')) throw new Error('A check was not read')
  }
  try {
    await untilAborted(check(), signal)
  } catch (error) {
    throw unavailable('The document store cannot be read and written', error)
  }
}
