import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { AppError, ERRORS, type ErrorCode } from '../errors.ts'
import type { ErrorBody, ErrorDetail } from '../schemas/error.ts'
import { invalidRequest } from '../schemas/invalid-request.ts'
import { CallerLeft } from './call-signal.ts'

/** One envelope for every failure, whoever raised it. */
export function installErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => sendError(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]
    sendError(new AppError('route_not_found', `No route ${request.method} ${path}`), request, reply)
  })
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toAppError(error)
  if (failure.retryAfter !== undefined) reply.header('retry-after', Math.ceil(failure.retryAfter))
  if (failure.code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  reply.status(failure.status).send(report(error, request))
}

/** The envelope of an error; writes the cause of a server's fault to the log, which alone may see it. */
export function report(error: unknown, request: FastifyRequest): ErrorBody {
  const failure = toAppError(error)
  if (isServersFault(error, failure)) {
    request.log.error({ err: error, code: failure.code }, failure.message)
  }
  return { error: toDetail(failure, request.id) }
}

/** Neither a caller who left nor an orderly end is one, whatever status they go with. */
function isServersFault(error: unknown, { status, code }: AppError): boolean {
  return status >= 500 && code !== 'shutting_down' && !(error instanceof CallerLeft)
}

export function toDetail(failure: AppError, requestId: string): ErrorDetail {
  return {
    message: failure.message,
    type: ERRORS[failure.code].type,
    code: failure.code,
    param: failure.param ?? null,
    request_id: requestId,
  }
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (hasZodFastifySchemaValidationErrors(error)) return toInvalidRequest(error)
  const status = statusOf(error)
  const code = CODE_BY_STATUS[status] ?? (isCallersFault(status) ? 'invalid_request' : undefined)
  if (!code || !(error instanceof Error)) {
    return new AppError('internal', 'Internal error', { cause: error })
  }
  return new AppError(code, BETTER_WORDS[code] ?? error.message, { cause: error })
}

/** Where Fastify tells what is wrong, but not what to do. */
const BETTER_WORDS: Partial<Record<ErrorCode, string>> = {
  unsupported_media_type:
    'This media type is not taken here: send `Content-Type: application/json`, or a form where files are taken',
}

/**
 * What Fastify and its plugins raise themselves keeps its status; any other fault of the caller is an
 * `invalid_request`. Their messages speak of the request only.
 */
const CODE_BY_STATUS: Record<number, ErrorCode> = {
  404: 'route_not_found',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  503: 'shutting_down',
}

function isCallersFault(status: number): boolean {
  return status >= 400 && status < 500
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500
  return typeof error.statusCode === 'number' ? error.statusCode : 500
}

interface ValidationError {
  validation: readonly { instancePath: string; message?: string | undefined }[]
}

function toInvalidRequest(error: ValidationError): AppError {
  const issues = error.validation.map(({ instancePath, message }) => ({
    field: instancePath.replace(/^\//, '').replaceAll('/', '.'),
    message: message ?? 'is invalid',
  }))
  return invalidRequest(issues, error)
}
