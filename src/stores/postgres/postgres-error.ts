import { DatabaseError } from 'pg'
import { AppError } from '../../errors.ts'
import { connectionFailure } from './connection-failure.ts'

/** What is away for a moment is mostly back by then: a restart, or a standby that takes over. */
const RETRY_AFTER_SECONDS = 5
/** About what a worker takes to make room for some of those who were refused. */
const QUEUE_FULL_RETRY_SECONDS = 5

// https://www.postgresql.org/docs/current/errcodes-appendix.html; our functions raise those that begin with AS.
const DISK_FULL = '53100'
const QUERY_CANCELED = '57014'
const READ_ONLY = '25006'
const REFUSED_SETTINGS = '08P01'
/** A statement that was prepared is missing, or is there already. */
const SPREAD = 'a pooler spreads our statements over connections: let it pool sessions'
const LOST_CLASSES = ['08', '57']
const UNAVAILABLE_CLASSES = new Map([
  ['08', 'the connection is broken'],
  ['28', 'it does not let this user in from here, or not without TLS (pg_hba.conf)'],
  ['3D', 'there is no such database'],
  ['53', 'it is out of resources'],
  ['55', 'a lock was not to be had in time'],
  ['57', 'it is going down, starting up, or too slow'],
  ['58', 'its system fails'],
  ['XX', 'it is damaged'],
])
const UNAVAILABLE_CODES = new Map([
  [
    REFUSED_SETTINGS,
    'a pooler refuses our settings: see ignore_startup_parameters in docs/scaling.md',
  ],
  ['26000', SPREAD],
  ['42P05', SPREAD],
  ['28P01', 'it refuses the password'],
  [READ_ONLY, 'it is read-only, as a standby is'],
  [
    '42501',
    'the user lacks a privilege: let it CREATE in the database, or own a schema agent_server',
  ],
  ['40001', 'it is busy'],
  ['40P01', 'it is busy'],
])
/** What a database that starts, restarts, moves or has too much to do answers for a while. */
const PASSING_CLASSES = ['08', '53', '57']
const AGAIN_AT_ONCE = new Set(['40001', '40P01'])

/** Vectors do not go with those that are kept. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError'
}

const OURS = new Map<string, () => Error>([
  [
    'AS001',
    () =>
      new AppError('queue_full', 'Too many documents wait for ingestion', {
        retryAfter: QUEUE_FULL_RETRY_SECONDS,
      }),
  ],
  [
    'AS002',
    () =>
      new AppError(
        'idempotency_conflict',
        'This Idempotency-Key came with another document before',
        { param: 'idempotency-key' },
      ),
  ],
  ['AS003', () => new AppError('document_not_found', 'There is no such document')],
  ['AS004', () => new AppError('document_not_failed', 'Only a failed document can be retried')],
  ['AS005', () => new EmbeddingError('The vectors are of another embedding')],
  ['AS006', () => unavailable('The chunk keys of this attempt are too old')],
  ['AS007', () => new AppError('storage_full', 'The document store has used up its chunk keys')],
  [
    'AS009',
    () =>
      unavailable('A corpus is being moved into this database: stop the servers until it is there'),
  ],
  ['AS008', () => new Error('Some chunks have no new vector yet')],
])

/** The code of an error that the database itself has raised. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof DatabaseError ? thrown.code : undefined
}

/**
 * What callers see of an error of the client library. Nothing of a document, a query or the connection goes
 * with it: the library's errors hold all three.
 */
export function toStoreError(thrown: unknown): Error {
  if (thrown instanceof AppError) return thrown
  const code = codeOf(thrown)
  if (code === DISK_FULL) {
    return new AppError('storage_full', 'The disk of the document store is full')
  }
  const reason = knownReason(thrown)
  if (reason === undefined) return OURS.get(code ?? '')?.() ?? bare(thrown)
  return unavailable(`The document store is unavailable: ${reason}`, bare(thrown))
}

/** Completes "… is unavailable:" for whoever cannot open the database. */
export function reasonFor(thrown: unknown): string {
  return knownReason(thrown) ?? bare(thrown).message
}

function knownReason(thrown: unknown): string | undefined {
  const code = codeOf(thrown)
  // Whatever a query rejects with without a code is the connection's fault.
  if (code === undefined) return connectionFailure(thrown).reason
  return UNAVAILABLE_CODES.get(code) ?? UNAVAILABLE_CLASSES.get(code.slice(0, 2))
}

/** What every call answers that the store cannot take: closed, away or not answering. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('store_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** Whether the connection is of no use any more. */
export function isLost(thrown: unknown): boolean {
  const code = codeOf(thrown)
  if (code === undefined || code === READ_ONLY) return true
  return code !== QUERY_CANCELED && LOST_CLASSES.includes(code.slice(0, 2))
}

/** Whether whoever waits for the database may hope. */
export function mayPass(thrown: unknown): boolean {
  const code = codeOf(thrown)
  if (code === undefined) return connectionFailure(thrown).passes
  if (code === REFUSED_SETTINGS) return false
  return code === READ_ONLY || PASSING_CLASSES.includes(code.slice(0, 2))
}

/** Whether nothing has happened, and the same may well succeed at once. */
export function isWorthAnotherTry(thrown: unknown): boolean {
  return AGAIN_AT_ONCE.has(codeOf(thrown) ?? '')
}

/** Its message and code alone. */
function bare(thrown: unknown): Error {
  const { message } = thrown instanceof Error ? thrown : new Error('unknown')
  const code = codeOf(thrown) ?? (thrown instanceof Error && 'code' in thrown && thrown.code)
  return new Error(code ? `PostgreSQL: ${message} (${code})` : `PostgreSQL: ${message}`)
}
