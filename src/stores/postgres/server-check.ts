import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { integer } from '../rows.ts'
import type { Database, Query } from './database.ts'
import { mayPass, reasonFor, unavailable } from './error.ts'
import { connectionSettings } from './pool.ts'

/** Between two attempts. Each ends by itself, in some seconds. */
const PAUSE_MS = 2_000
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
    if (!mayPass(failure) || waited + PAUSE_MS > milliseconds) {
      throw explain(url, failure, waited)
    }
    log.warn(
      { database: nameOf(url), reason: reasonFor(failure), seconds: inSeconds(waited) },
      `waiting for PostgreSQL, for ${inSeconds(milliseconds)} s at most`,
    )
    await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined)
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
  const time = mayPass(failure) && waited >= PAUSE_MS
  const after = time ? `, after ${inSeconds(waited)} s` : ''
  return unavailable(`${nameOf(url)} is unavailable${after}: ${reasonFor(failure)}`)
}

/** Where it is, without who asks and how. */
function nameOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `PostgreSQL at ${hostname}:${port || PORT}${pathname}`
}

const inSeconds = (milliseconds: number) => Math.round(milliseconds / 1_000)

/** The functions of the schema are written as 14 first understood them. */
const LEAST_VERSION = 140_000
const ENCODING = 'UTF8'

/** For `checkServer`: nothing of ours need be there yet. */
export const SERVER = `
  current_setting('server_version_num')::integer AS server_version,
  current_setting('server_version') AS server_version_name,
  current_setting('server_encoding') AS encoding`

interface ServerFacts {
  version: number
  versionName: string
  encoding: string
}

/** Throws `store_unavailable` with the remedy for a server or a database that cannot hold the documents. */
export function checkServer({ version, versionName, encoding }: ServerFacts): void {
  if (version < LEAST_VERSION) {
    throw unavailable(`PostgreSQL 14 or later is needed; this is ${versionName}`)
  }
  if (encoding === ENCODING) return
  throw unavailable(
    `The database cannot hold every character: its encoding is ${encoding}. Name one in DATABASE_URL that was made with ENCODING 'UTF8' TEMPLATE template0.`,
  )
}

const CHECK_MS = 5_000

const WRITE: Query = {
  name: 'check',
  text: `UPDATE agent_server.meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`,
  milliseconds: CHECK_MS,
}
const READ: Query = {
  name: 'last_check',
  text: `SELECT value FROM agent_server.meta WHERE name = 'last_check'`,
  milliseconds: CHECK_MS,
}

/** Throws `store_unavailable` when the database does not take a write and give it back in time. */
export async function check(database: Database, signal: AbortSignal): Promise<void> {
  const look = async () => {
    const [written] = await database.write(WRITE)
    const [seen] = await database.read(READ)
    if (integer(seen, 'value') < integer(written, 'value')) throw new Error('A check was not read')
  }
  try {
    await untilAborted(look(), signal)
  } catch (error) {
    throw unavailable('The document store cannot be read and written', error)
  }
}
