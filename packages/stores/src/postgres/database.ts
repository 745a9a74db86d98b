import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '@agent-server/lib/log.ts'
import pg from 'pg'
import { Conflict, type Statement, type Tx, type Value } from '../sql/query.ts'
import { connectionSettings, createTx, SEARCH_PATH } from './connection.ts'
import { isLost, isOutdated, isWorthAnotherTry, toStoreError, unavailable } from './error.ts'

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
  log: Pick<Log, 'warn'>
}

export type Database = ReturnType<typeof openDatabase>

/**
 * Runs the store's statements. Rejects with an `AppError`: `store_unavailable`, within a bounded time, whatever happens
 * to the database, and the errors of the work itself. Half of the connections are for reading, so that a flood of
 * writes delays no query.
 */
export function openDatabase({ url, size, log }: PoolOptions) {
  const readers = createPool({ url, size: Math.ceil(size / 2), log })
  const writers = createPool({ url, size: Math.max(1, Math.floor(size / 2)), log })
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  const track = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed) return Promise.reject(unavailable('The document store is closed'))
    const running = work().catch((error: unknown) => {
      throw error instanceof Refused ? error.reason : toStoreError(error)
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
        const run = () =>
          readers.use(
            (client) => createTx(client, milliseconds).all(statement, values),
            milliseconds,
          )
        const start = performance.now()
        const withLost = () =>
          run().catch((error: unknown) => {
            // A connection that died while idle is only noticed by the first statement on it.
            if (isLost(error) && performance.now() - start < PAUSE_MS) return run()
            throw error
          })
        return again(withLost)
      }),

    /**
     * Runs work in a transaction, whose statements may take `milliseconds` each. It runs again if another transaction
     * came in between, and only if it is known to have had no effect.
     */
    transaction: <Result>(work: (tx: Tx) => Promise<Result>, milliseconds = ANSWER_MS) =>
      track(() =>
        again(() => writers.use((client) => transact(client, work, milliseconds), milliseconds)),
      ),

    /** Refuses new statements, and waits for those in flight. */
    async close() {
      isClosed = true
      const late = pause(CLOSE_MS, undefined, { ref: false })
      await Promise.race([Promise.allSettled(underWay), late])
      await Promise.race([Promise.all([readers.close(), writers.close()]), late])
    },
  }
}

// Without a name, it costs less.

const COMMIT = { unprepared: 'COMMIT' }

/** The work itself has failed, not the database. */
class Refused extends Error {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('The work of a transaction has failed')
    this.reason = reason
  }
}

async function transact<Result>(
  client: pg.ClientBase,
  work: (tx: Tx) => Promise<Result>,
  milliseconds: number,
): Promise<Result> {
  let failure: { error: unknown } | undefined
  const tx = createTx(client, milliseconds, (error) => {
    failure ??= { error }
  })
  try {
    // The beginning is sent together with the first statement of the work.
    const [, result] = await Promise.all([tx.run('BEGIN'), work(tx)])
    await tx.run(COMMIT)
    return result
  } catch (error) {
    if (failure) throw failure.error
    await tx.run('ROLLBACK')
    throw new Refused(error)
  }
}

async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; ) {
    try {
      return await work()
    } catch (error) {
      // Each such try ends a connection, of which there are few.
      if (isOutdated(error)) continue
      const isConflict = error instanceof Refused && error.reason instanceof Conflict
      if (!(isConflict || isWorthAnotherTry(error)) || tries === MAX_TRIES) throw error
    }
    await pause(Math.random() * PAUSE_MS * tries)
    tries += 1
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
      // The statements of one `Promise.all` are sent without waiting for the answers.
      pipeline: true,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it; its types do not say so.
      onConnect: async (client: pg.ClientBase) => {
        await client.query(SEARCH_PATH)
      },
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
    /** Runs work on a connection. One that fails by the database is not used again. */
    async use<Result>(
      work: (client: pg.ClientBase) => Promise<Result>,
      milliseconds: number,
    ): Promise<Result> {
      if (pool.waitingCount >= MAX_WAITING) {
        throw unavailable('Too many statements wait for the document store')
      }
      const used = pool
      const start = performance.now()
      const client = await used.connect()
      try {
        const result = await work(client)
        answeredAt = performance.now()
        client.release()
        return result
      } catch (error) {
        const isRefused = error instanceof Refused
        // After an error, a statement that was sent with others may be half prepared.
        client.release(!isRefused)
        const isLate = performance.now() - start >= milliseconds
        if (!isRefused && isLost(error) && isLate && answeredAt < start) startAfresh(used)
        throw error
      }
    },
    /** Resolves when all connections are closed; none may be in use. */
    close: () => pool.end(),
  }
}
