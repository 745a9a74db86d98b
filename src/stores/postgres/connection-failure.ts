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
export interface ConnectionFailure {
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
