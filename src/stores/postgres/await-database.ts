import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { AppError } from '../../errors.ts'
import { connectionSettings } from './pool.ts'
import { mayPass, reasonFor, unavailable } from './postgres-error.ts'

/** Between two attempts. Each ends by itself, in some seconds. */
const PAUSE_MILLISECONDS = 2_000
const PORT = '5432'

export interface Patience {
  milliseconds: number
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

interface Options {
  url: string
  log: { warn(fields: object, message: string): void }
  /** Without, there is one attempt. */
  patience?: Patience | undefined
}

/**
 * Resolves when the database takes connections and may be written. What passes is waited for: a start, a restart, a
 * failover. Throws `store_unavailable` that names the database, never the password, and what `signal` was aborted with.
 */
export async function awaitDatabase({ url, log, patience }: Options): Promise<void> {
  const { milliseconds, signal } = patience ?? { milliseconds: 0 }
  const begun = performance.now()
  for (;;) {
    const failure = await failureOf(url)
    signal?.throwIfAborted()
    if (failure === undefined) return
    const waited = performance.now() - begun
    if (!mayPass(failure) || waited + PAUSE_MILLISECONDS > milliseconds) {
      throw explain(url, failure, waited)
    }
    log.warn(
      { database: nameOf(url), reason: reasonFor(failure), seconds: inSeconds(waited) },
      `waiting for PostgreSQL, for ${inSeconds(milliseconds)} s at most`,
    )
    await pause(PAUSE_MILLISECONDS, undefined, { signal }).catch(() => undefined)
    signal?.throwIfAborted()
  }
}

/** Nothing where it is there. */
async function failureOf(url: string): Promise<unknown> {
  let client: pg.Client | undefined
  try {
    client = new pg.Client(connectionSettings(url))
    // A connection that breaks rejects the statement under way; the event comes beside it.
    client.on('error', () => undefined)
    await client.connect()
    // Refused by a standby, which may become the primary.
    await client.query('BEGIN READ WRITE')
    return undefined
  } catch (error) {
    return error
  } finally {
    await client?.end().catch(() => undefined)
  }
}

function explain(url: string, failure: unknown, waited: number): AppError {
  const time = mayPass(failure) && waited >= PAUSE_MILLISECONDS
  const after = time ? `, after ${inSeconds(waited)} s` : ''
  return unavailable(`${nameOf(url)} is unavailable${after}: ${reasonFor(failure)}`)
}

/** Where it is, without who asks and how. */
function nameOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `PostgreSQL at ${hostname}:${port || PORT}${pathname}`
}

const inSeconds = (milliseconds: number) => Math.round(milliseconds / 1_000)
