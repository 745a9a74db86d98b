import { DatabaseError } from 'pg'
import { AppError } from '../../errors.ts'

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

/** What may be otherwise in a moment: the database starts, restarts or moves, or the network settles. */
const PASSING = new Map([
  ['ECONNREFUSED', 'nobody listens at its address'],
  ['ECONNRESET', 'the connection is broken'],
  ['EPIPE', 'the connection is broken'],
  ['ENOTFOUND', 'its host name is not known'],
  ['EAI_AGAIN', 'its host name cannot be looked up'],
  ['EHOSTUNREACH', 'its host cannot be reached'],
  ['ENETUNREACH', 'its host cannot be reached'],
  ['ETIMEDOUT', 'it does not answer'],
])

const UNKNOWN_AUTHORITY =
  'its certificate is not from an authority that is trusted here: name the right one with sslrootcert'

/** What stays until somebody mends it. Codes of Node.js: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const LASTING = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNKNOWN_AUTHORITY],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_AUTHORITY],
  ['CERT_SIGNATURE_FAILURE', UNKNOWN_AUTHORITY],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name'],
  ['ENOENT', 'a file that DATABASE_URL names is not there'],
  ['EACCES', 'a file that DATABASE_URL names may not be read'],
])
/** The client library gives these no code. */
const LASTING_WORDS = new Map([
  ['does not support SSL', 'it has no TLS, which sslmode asks for'],
  ['verify-ca requires', 'sslmode=verify-ca needs sslrootcert'],
  ['password must be a string', 'it asks for a password'],
])

/** A failure that is not the database's own word. */
interface ConnectionFailure {
  /** Completes "… is unavailable:". */
  reason: string
  /** Whether it may be otherwise in a moment. */
  passes: boolean
}

/** What a failure of the connection means; whatever is not known is taken for silence. */
export function connectionFailure(thrown: unknown): ConnectionFailure {
  const { message, code } = wordsOf(thrown)
  const lasting =
    LASTING.get(code) ?? LASTING_WORDS.entries().find(([words]) => message.includes(words))?.[1]
  if (lasting !== undefined) return { reason: lasting, passes: false }
  return { reason: PASSING.get(code) ?? 'it does not answer', passes: true }
}

function wordsOf(thrown: unknown): { message: string; code: string } {
  if (!(thrown instanceof Error)) return { message: '', code: '' }
  return { message: thrown.message, code: 'code' in thrown ? String(thrown.code) : '' }
}
