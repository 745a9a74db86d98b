import { hash } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import pg from 'pg'
import type { Row, Statement, Tx, Value } from '../sql/query.ts'
import { readColumn, toParameter } from './codec.ts'
import { codeOf, mayPass, reasonFor, toStoreError, unavailable } from './error.ts'

const CONNECT_MS = 5_000
/** The time limit that the database applies to a statement, and to its wait for a lock. */
const STATEMENT_MS = 60_000
const LOCK_MS = 10_000
/** The same limits in a session. */
const SESSION_MS = 600_000
/** No transaction of ours stays open between statements, except in a session. */
const IDLE_TRANSACTION_MS = 10_000
const KEEP_ALIVE_MS = 10_000
const COMMON_TLS = new Set(['disable', 'prefer', 'require', 'verify-ca', 'verify-full'])
const PORT = '5432'

/** The settings of every connection. Those in the URL take precedence. */
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
    stream: createSocket,
    types: { getTypeParser: readColumn },
  }
}

/**
 * Gives `sslmode` the meaning it has in every other PostgreSQL client: `require` encrypts; `verify-ca` and
 * `verify-full` also check the certificate. By default, the library treats them all as `verify-full`, and warns on
 * standard error.
 */
function withCommonTls(url: string): string {
  const common = new URL(url)
  const isCommon = COMMON_TLS.has(common.searchParams.get('sslmode') ?? '')
  if (isCommon) common.searchParams.set('uselibpqcompat', 'true')
  return common.href
}

/**
 * Our tables need no schema in their names. Every new connection runs it, as a pooler may ignore startup parameters.
 */
export const SEARCH_PATH = 'SET search_path = agent_server, pg_temp'

/** Statements on one connection, which belong to a transaction or not. */
export type Session = Awaited<ReturnType<typeof connect>>

/** Rejects with the client library's errors. Calls `onLost` when the connection ends, however it ends. */
async function connect(url: string, onLost = () => undefined) {
  const client = new pg.Client({
    ...connectionSettings(url),
    statement_timeout: SESSION_MS,
    lock_timeout: SESSION_MS,
    // The reader of a corpus may be slow.
    idle_in_transaction_session_timeout: 0,
    pipeline: true,
  })
  // A broken connection rejects the statement in flight and emits this event as well.
  client.on('error', onLost)
  client.on('end', onLost)
  await client.connect()
  await client.query(SEARCH_PATH)
  return {
    ...createTx(client),
    /** Ends the connection, and rolls back an uncommitted transaction. */
    close: () => ignore(client.end(), 'a broken connection has ended'),
  }
}

/** The names of prepared statements; their number is that of the statements in the code. */
const names = new Map<string, string>()

/** A named statement is prepared once on each connection. */
function toQuery(statement: Statement) {
  if (typeof statement !== 'string') return { text: statement.unprepared }
  const name = names.get(statement) ?? hash('sha1', statement)
  names.set(statement, name)
  return { name, text: statement }
}

/** A socket that sends what is written to it in one tick, such as the statements of one `Promise.all`, at once. */
function createSocket(): Socket {
  const socket = new Socket()
  const { uncork } = socket
  socket.uncork = () => process.nextTick(() => uncork.call(socket))
  return socket
}

/** Runs statements on a connection; each may take `milliseconds`. Calls `onFailure` with every error of the library. */
export function createTx(
  client: pg.ClientBase,
  milliseconds?: number,
  onFailure: (error: unknown) => void = () => undefined,
): Tx {
  const query = (statement: Statement, values: readonly Value[] = []) =>
    client
      .query<Row>({
        ...toQuery(statement),
        values: values.map(toParameter),
        ...(milliseconds !== undefined && { query_timeout: milliseconds }),
      })
      .catch((error: unknown) => {
        onFailure(error)
        throw error
      })
  return {
    all: async (statement, values) => (await query(statement, values)).rows,
    one: async (statement, values) => (await query(statement, values)).rows[0],
    run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
  }
}

/**
 * Opens a separate connection for work of several statements that no request waits for. Rejects with `AppError`; its
 * statements reject with the client library's errors.
 */
export async function openSession(url: string, onLost?: () => undefined): Promise<Session> {
  return connect(url, onLost).catch((error: unknown) => {
    throw toStoreError(error)
  })
}

/** Opens a session for some work. Errors raised by the database become `AppError`s. */
export async function withSession<Result>(
  url: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await openSession(url)
  try {
    return await work(session)
  } catch (error) {
    throw explainRefusal(error)
  } finally {
    await session.close()
  }
}

/** Errors not raised by the database, such as those of the caller or of corpus records, stay as they are. */
export function explainRefusal(error: unknown): unknown {
  return codeOf(error) === undefined ? error : toStoreError(error)
}

/** The first half of our advisory locks: "AgSv", as in the functions of the schema. */
export const LOCK = 1_097_302_902

/** The second half of the lock that each running server shares. */
const RUNNING = 19
export const RUN = `SELECT pg_advisory_lock_shared(${LOCK}, ${RUNNING})`
const STOP_OTHERS = `SELECT pg_try_advisory_xact_lock(${LOCK}, ${RUNNING}) AS taken`
const OTHERS = `SELECT concat('session ', pid, ' of ', coalesce(host(client_addr), 'its own machine'),
    to_char(backend_start AT TIME ZONE 'UTC', '", since "YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS session
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND classid = ${LOCK} AND objid = ${RUNNING}
    AND datname = current_database() AND pid <> pg_backend_pid()`

/**
 * Keeps servers from running until the transaction ends. Throws `store_unavailable` if one runs, and names its session,
 * as its machine may be gone.
 */
export async function refuseRunning({ one, all }: Pick<Tx, 'one' | 'all'>): Promise<void> {
  if ((await one(STOP_OTHERS))?.taken === true) return
  const others = (await all(OTHERS)).map((row) => row.session).join('; ')
  throw unavailable(
    `A server is running on this database: stop it first, or, if its machine is gone, let the database end its session with pg_terminate_backend (${others}).`,
  )
}

interface Held {
  url: string
  /** Distinguishes it from our other locks. */
  lock: number
}

/**
 * Runs `work` while this process holds the lock, for as long as it takes. The lock belongs to a connection: if that
 * ends, for whatever reason, the lock is lost and `work` is aborted. Returns false, without running `work`, if somebody
 * else holds the lock.
 */
export async function holdLock(
  { url, lock }: Held,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted()
  const lost = new AbortController()
  const onLost = () => void lost.abort(unavailable('The connection that kept others out has ended'))
  const session = await openSession(url, onLost)
  try {
    const take = session.one(`SELECT pg_try_advisory_lock(${LOCK}, ${lock}) AS taken`)
    const row = await take.catch((error: unknown) => {
      throw toStoreError(error)
    })
    if (row?.taken !== true) return false
    await work(AbortSignal.any([signal, lost.signal]))
    return true
  } finally {
    await session.close()
  }
}

/** The pause between two attempts. Each attempt fails by itself within a few seconds. */
const PAUSE_MS = 2_000

/** How long to wait for a database that is down. */
export interface StartDeadline {
  milliseconds: number
  /** Ends the wait early. */
  signal?: AbortSignal | undefined
}

interface WaitOptions {
  url: string
  log: Pick<Log, 'warn'>
  /** Without it, there is only one attempt. */
  deadline?: StartDeadline | undefined
}

/**
 * Resolves when the database accepts connections and writes. Waits for temporary failures to pass: a start, a restart,
 * a failover. Throws `store_unavailable`, which names the database but never the password, and the reason of `signal`.
 */
export async function awaitDatabase({ url, log, deadline }: WaitOptions): Promise<void> {
  const { milliseconds, signal } = deadline ?? { milliseconds: 0 }
  const start = performance.now()
  for (;;) {
    const failure = await failureOf(url)
    signal?.throwIfAborted()
    if (failure === undefined) return
    const waited = performance.now() - start
    if (!mayPass(failure) || waited + PAUSE_MS > milliseconds) {
      const after = mayPass(failure) && waited >= PAUSE_MS ? `, after ${inSeconds(waited)} s` : ''
      throw unavailable(`${nameOf(url)} is unavailable${after}: ${reasonFor(failure)}`)
    }
    log.warn(
      { database: nameOf(url), reason: reasonFor(failure), seconds: inSeconds(waited) },
      `waiting for PostgreSQL, for ${inSeconds(milliseconds)} s at most`,
    )
    await ignore(pause(PAUSE_MS, undefined, { signal }), 'only the signal ends it')
    signal?.throwIfAborted()
  }
}

/** Returns undefined if the database can be written. */
async function failureOf(url: string): Promise<unknown> {
  let session: Session | undefined
  try {
    session = await connect(url)
    // A standby refuses this, but it may become the primary.
    await session.run('BEGIN READ WRITE')
    return undefined
  } catch (error) {
    return error
  } finally {
    await session?.close()
  }
}

/** The location of the database, without credentials and settings. */
function nameOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `PostgreSQL at ${hostname}:${port || PORT}${pathname}`
}

const inSeconds = (milliseconds: number) => Math.round(milliseconds / 1_000)
