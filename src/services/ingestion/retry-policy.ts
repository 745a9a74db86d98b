import { AppError } from '../../errors.ts'
import type { Backoff } from '../../lib/backoff.ts'
import { EmbedderError } from '../../models/embedder.ts'
import type { DocumentFailure } from '../../stores/document-store.ts'
import { EXTRACTION_CODES, ExtractionError } from '../extraction/extracted.ts'
import { IndexError, isOutage } from './availability.ts'

export interface RetryOptions {
  /** How often a document is tried before it fails for good, counting every claim, also those a crash ended. */
  attempts: number
  backoff: Backoff
}

export const RETRY: RetryOptions = {
  attempts: 5,
  backoff: { firstMs: 1_000, maxMs: 300_000, factor: 4 },
}

/** Too slow, too big or refused may be the moment's fault, but hardly twice. */
const MAX_PREPARATION_ATTEMPTS = 2

/** What a document's `error` may hold as its code; see docs/ingestion.md. */
export const FAILURE_CODES = [
  ...EXTRACTION_CODES,
  'preparation_timeout',
  'preparation_crashed',
  'embedder_unavailable',
  'embedding_refused',
  'index_unavailable',
  'index_failed',
  'store_unavailable',
  'storage_full',
  'attempts_exhausted',
  'internal',
] as const

type FailureCode = (typeof FAILURE_CODES)[number]

export interface Failure extends DocumentFailure {
  code: FailureCode
}

/** What a failed attempt tells the owner of the document. Never the words of an unknown error. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ExtractionError || error instanceof PreparationError) {
    return { code: error.code, message: error.message }
  }
  if (error instanceof EmbedderError) {
    const code = error.kind === 'refused' ? 'embedding_refused' : 'embedder_unavailable'
    return { code, message: error.message }
  }
  if (error instanceof IndexError) return indexFailure(error)
  if (error instanceof AppError) {
    const { code, message } = error
    if (code === 'invalid_request') return { code: 'empty_document', message }
    if (code === 'store_unavailable' || code === 'storage_full') return { code, message }
  }
  return { code: 'internal', message: 'Ingestion failed; the log of the server says why' }
}

function indexFailure(error: IndexError): Failure {
  return isOutage(error)
    ? { code: 'index_unavailable', message: 'The search index does not work at the moment' }
    : { code: 'index_failed', message: 'The search index did not take the document' }
}

export function exhausted(attempts: number): Failure {
  const message = `Ingestion was begun ${attempts} times and never came to an end`
  return { code: 'attempts_exhausted', message }
}

/** Whether a document that failed like this at its `attempt`th attempt is given another one. */
export function isWorthRetrying({ code }: Failure, attempt: number, attempts: number): boolean {
  switch (code) {
    case 'empty_document':
    case 'unsupported_file':
    case 'encrypted_file':
    case 'damaged_file':
    case 'file_too_complex':
    case 'text_too_long':
    case 'attempts_exhausted':
      return false
    case 'extraction_timeout':
    case 'preparation_timeout':
    case 'preparation_crashed':
    case 'embedding_refused':
      return attempt < Math.min(attempts, MAX_PREPARATION_ATTEMPTS)
    case 'embedder_unavailable':
    case 'index_unavailable':
    case 'index_failed':
    case 'store_unavailable':
    case 'storage_full':
    case 'internal':
      return attempt < attempts
    default:
      return code satisfies never
  }
}

const MESSAGES = {
  preparation_timeout: 'Splitting and analysing the document took too long',
  preparation_crashed: 'Splitting and analysing the document took too much memory',
} as const

type PreparationErrorCode = keyof typeof MESSAGES

/** A document that the preparation does not survive. Its own fault as far as anyone can tell. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError'
  readonly code: PreparationErrorCode

  constructor(code: PreparationErrorCode, cause?: unknown) {
    super(MESSAGES[code], { cause })
    this.code = code
  }
}

export function withoutText(): AppError {
  return new AppError('invalid_request', 'The document holds no text to index', { param: 'text' })
}
