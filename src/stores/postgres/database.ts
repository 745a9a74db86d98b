import { setTimeout as pause } from 'node:timers/promises'
import type { Row } from '../rows.ts'
import { toParameter, type Value } from './codec.ts'
import { isLost, isWorthAnotherTry, toStoreError, unavailable } from './error.ts'
import { createStatementPool, type PoolOptions, type Statement } from './pool.ts'

const ANSWER_MS = 10_000
/** Two writes that met are not likely to meet again. */
const MAX_TRIES = 6
const PAUSE_MS = 20
const CLOSE_MS = 10_000

/** A statement that is sent as it is; with a name it is prepared once per connection. */
export interface Query extends Omit<Statement, 'milliseconds'> {
  milliseconds?: number
}

/**
 * Statements of the store. Each is a transaction of its own. Rejects with an `AppError`: `store_unavailable`, in
 * bounded time, whatever happens to the database, and with what our functions refuse.
 */
export interface Database {
  /** May be sent twice. */
  read(query: Query, values?: readonly Value[]): Promise<Row[]>
  /** Is sent again only where it is known to have done nothing. */
  write(query: Query, values?: readonly Value[]): Promise<Row[]>
  /** Refuses what comes from now on, and waits for what is under way. */
  close(): Promise<void>
}

/** Half of the connections are for reading, so that a flood of writes keeps no query waiting. */
export function openDatabase({ url, size, log }: PoolOptions): Database {
  const readers = createStatementPool({ url, size: Math.ceil(size / 2), log })
  const writers = createStatementPool({ url, size: Math.max(1, Math.floor(size / 2)), log })
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false
  let closing: Promise<void> | undefined

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

  const close = async () => {
    isClosed = true
    const late = pause(CLOSE_MS, undefined, { ref: false })
    await Promise.race([Promise.allSettled(underWay), late])
    await Promise.race([Promise.all([readers.close(), writers.close()]), late])
  }

  return {
    read: (query, values = []) =>
      track(() => {
        const run = () => readers.run(toStatement(query), values.map(toParameter))
        const begun = performance.now()
        return run().catch((error: unknown) => {
          // A connection that has died while it was idle is found out by the first who uses it.
          if (isLost(error) && performance.now() - begun < PAUSE_MS) return run()
          throw error
        })
      }),
    write: (query, values = []) =>
      track(() => again(() => writers.run(toStatement(query), values.map(toParameter)))),
    close: () => (closing ??= close()),
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

function toStatement(query: Query): Statement {
  return { milliseconds: ANSWER_MS, ...query }
}
