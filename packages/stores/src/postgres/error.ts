import { AppError } from '@agent-server/lib/errors.ts'
import { DatabaseError } from 'pg'

/** Most short outages are over by then: a restart, or a standby that takes over. */
const RETRY_AFTER_SECONDS = 5

// https://www.postgresql.org/docs/current/errcodes-appendix.html.
const DISK_FULL = '53100'
const QUERY_CANCELED = '57014'
const READ_ONLY = '25006'
const LOCK_NOT_AVAILABLE = '55P03'
const LOST_CLASSES = ['08', '57']
const AGAIN_AT_ONCE = new Set(['40001', '40P01'])

/** A prepared statement is missing, or exists already. */
const SPREAD = 'a pooler spreads our statements over connections: let it pool sessions'
const UNKNOWN_AUTHORITY =
  'its certificate is not from a trusted authority: set the right one with sslrootcert'

/**
 * Failures that may soon pass, by PostgreSQL's codes, their classes, and Node.js's codes: the database starts,
 * restarts, moves or is overloaded, or the network recovers. Each completes "… is unavailable:".
 */
const PASSING = new Map([
  ['08', 'the connection is broken'],
  ['53', 'it is out of resources'],
  ['57', 'it is going down, starting up, or too slow'],
  [READ_ONLY, 'it is read-only, as a standby is'],
  ['ECONNREFUSED', 'nothing is listening at its address'],
  ['ECONNRESET', 'the connection is broken'],
  ['EPIPE', 'the connection is broken'],
  ['ENOTFOUND', 'its host name is not known'],
  ['EAI_AGAIN', 'its host name cannot be looked up'],
  ['EHOSTUNREACH', 'its host cannot be reached'],
  ['ENETUNREACH', 'its host cannot be reached'],
  ['ETIMEDOUT', 'it does not respond'],
])

/**
 * Likewise, failures that last until somebody fixes them: https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const LASTING = new Map([
  ['28', 'it does not allow this user from here, or not without TLS (pg_hba.conf)'],
  ['3D', 'there is no such database'],
  ['55', 'a lock could not be obtained in time'],
  ['58', 'its system fails'],
  ['XX', 'it is damaged'],
  [
    '08P01',
    'a pooler refuses our settings: see ignore_startup_parameters in docs/guides/scaling.md',
  ],
  ['26000', SPREAD],
  ['42P05', SPREAD],
  ['28P01', 'it refuses the password'],
  [
    '42501',
    'the user lacks a privilege: let it CREATE in the database, or own a schema agent_server',
  ],
  ['40001', 'it is busy'],
  ['40P01', 'it is busy'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNKNOWN_AUTHORITY],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_AUTHORITY],
  ['CERT_SIGNATURE_FAILURE', UNKNOWN_AUTHORITY],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name'],
  ['ENOENT', 'a file named in DATABASE_URL does not exist'],
  ['EACCES', 'a file named in DATABASE_URL cannot be read'],
])
/** The client library gives these errors no code. */
const LASTING_WORDS = new Map([
  ['does not support SSL', 'it has no TLS, which sslmode requires'],
  ['verify-ca requires', 'sslmode=verify-ca needs sslrootcert'],
  ['password must be a string', 'it requires a password'],
])

/** Raised by the trigger `documents_moving`. */
const BEING_MOVED = 'AS009'
const STOP_SERVERS =
  'A corpus is being moved into this database: stop the servers until that has finished'

/** The code of an error raised by the database itself. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof DatabaseError ? thrown.code : undefined
}

/**
 * Converts an error of the client library to what callers may see. It contains nothing about a document, a query or the
 * connection, all of which are in the library's errors.
 */
export function toStoreError(thrown: unknown): Error {
  if (thrown instanceof AppError) return thrown
  const code = codeOf(thrown)
  if (code === DISK_FULL) {
    return new AppError('storage_full', 'The disk of the document store is full')
  }
  if (code === BEING_MOVED) return unavailable(STOP_SERVERS)
  const reason = failureOf(thrown)?.reason
  if (reason === undefined) return bare(thrown)
  return unavailable(`The document store is unavailable: ${reason}`, bare(thrown))
}

/** Completes "… is unavailable:" for a database that cannot be opened. */
export function reasonFor(thrown: unknown): string {
  return failureOf(thrown)?.reason ?? bare(thrown).message
}

/** The error of every call while the store is unusable: closed, down or not answering. */
export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('store_unavailable', message, { cause, retryAfter: RETRY_AFTER_SECONDS })
}

/** Whether the connection is no longer usable. */
export function isLost(thrown: unknown): boolean {
  const code = codeOf(thrown)
  if (code === undefined || code === READ_ONLY) return true
  return code !== QUERY_CANCELED && LOST_CLASSES.includes(code.slice(0, 2))
}

/** Whether waiting for the database may help. */
export function mayPass(thrown: unknown): boolean {
  return failureOf(thrown)?.passes ?? false
}

/**
 * Whether the connection has prepared a statement that reads all columns of a table, to which a newer server has added
 * one since. The database has no code for that alone.
 */
export function isOutdated(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && thrown.routine === 'RevalidateCachedQuery'
}

/** Whether the statement had no effect and may well succeed if repeated at once. */
export function isWorthAnotherTry(thrown: unknown): boolean {
  return AGAIN_AT_ONCE.has(codeOf(thrown) ?? '')
}

/** Whether somebody else held what the statement needed for too long. */
export function isInTheWay(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code === LOCK_NOT_AVAILABLE || code === QUERY_CANCELED || isWorthAnotherTry(thrown)
}

/** A copy of the error with only its message and code. */
function bare(thrown: unknown): Error {
  const { message } = thrown instanceof Error ? thrown : new Error('unknown')
  const code = codeOf(thrown) ?? (thrown instanceof Error && 'code' in thrown && thrown.code)
  return new Error(code ? `PostgreSQL: ${message} (${code})` : `PostgreSQL: ${message}`)
}

interface Failure {
  /** Completes "… is unavailable:". */
  reason: string
  /** Whether the failure may soon pass. */
  passes: boolean
}

function failureOf(thrown: unknown): Failure | undefined {
  const code = codeOf(thrown)
  // If a query rejects without a code, the connection is at fault.
  if (code === undefined) return connectionFailure(thrown)
  return knownFailure(code) ?? knownFailure(code.slice(0, 2))
}

/** What a failure of the connection means; unknown failures count as no answer. */
export function connectionFailure(thrown: unknown): Failure {
  const { message, code } = wordsOf(thrown)
  const failure = knownFailure(code)
  if (failure) return failure
  const lasting = LASTING_WORDS.entries().find(([words]) => message.includes(words))?.[1]
  return { reason: lasting ?? 'it does not respond', passes: lasting === undefined }
}

function knownFailure(code: string): Failure | undefined {
  const lasting = LASTING.get(code)
  const reason = lasting ?? PASSING.get(code)
  return reason === undefined ? undefined : { reason, passes: lasting === undefined }
}

function wordsOf(thrown: unknown): { message: string; code: string } {
  if (!(thrown instanceof Error)) return { message: '', code: '' }
  return { message: thrown.message, code: 'code' in thrown ? String(thrown.code) : '' }
}
