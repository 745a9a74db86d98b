import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, ERRORS, type ErrorCode } from '@agent-server/lib/errors.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import type { ErrorBody, ErrorDetail } from '@agent-server/schemas/error.ts'
import { fieldsOf, invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { CallerLeft } from './shutdown.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The status of the error that its answer ends with, also if that had already begun with another one. */
    failureStatus: number | undefined
  }
  interface FastifyContextConfig {
    /** Writes an error in the shape that the route's protocol has for it; without it, the common envelope is sent. */
    toErrorBody?: (body: ErrorBody) => object
    /** What `WWW-Authenticate` says if the key is missing or refused; `Bearer` without it. */
    challenge?: (request: FastifyRequest) => string
  }
}

/**
 * Answers every failure with the same envelope; `unknownRoute` replaces the 404 if routes are missing for another
 * reason than a wrong path.
 */
export function installErrorHandler(app: FastifyInstance, unknownRoute?: AppError): void {
  app.decorateRequest('failureStatus', undefined)
  const allowed = rememberMethods(app)
  app.setErrorHandler<FastifyError>((error, request, reply) => sendError(error, request, reply))
  const refuse = ({ method, url }: FastifyRequest, reply: FastifyReply) => {
    if (unknownRoute) throw unknownRoute
    const [path = ''] = url.split('?')
    const methods = allowed(path)
    if (methods.length === 0) {
      const suggestion = otherBases(path).find((other) => allowed(other).length > 0)
      const advice = suggestion
        ? `, but there is ${suggestion}. Check the client’s base URL`
        : ': see /reference'
      throw new AppError('route_not_found', `No route ${method} ${path}${advice}`)
    }
    reply.header('allow', methods.join(', '))
    const message = `${path} takes ${methods.join(', ')}, not ${method}`
    throw new AppError('method_not_allowed', message)
  }
  app.setNotFoundHandler(refuse)
  // Before the body is parsed, and after authentication.
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) refuse(request, reply)
  })
}

/** The path below other base URLs: with `/v1`, which many clients of OpenAI need in theirs, and without. */
function otherBases(path: string): string[] {
  return [`/v1${path.replace(/^\/openai\//, '/')}`, path.replace(/^\/v1\//, '/')]
}

/** Records routes as they are added from now on. Returns a function that gives the methods of a path. */
function rememberMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { path: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    // A wildcard route tells nothing about a particular path.
    if (url.includes('*')) return
    const pattern = url.replace(/\/$/, '').replaceAll(/:\w+/g, '[^/]+')
    for (const each of [method].flat())
      routes.push({ path: new RegExp(`^${pattern}/?$`), method: each })
  })
  return (path) => [
    ...new Set(routes.flatMap((route) => (route.path.test(path) ? [route.method] : []))),
  ]
}

/** Sends an error in the shape of its route, with `Retry-After` and `WWW-Authenticate` where they apply. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toAppError(error)
  if (failure.retryAfter !== undefined) reply.header('retry-after', Math.ceil(failure.retryAfter))
  if (failure.code === 'unauthorized') {
    reply.header('www-authenticate', request.routeOptions.config.challenge?.(request) ?? 'Bearer')
  }
  const body = report(error, request)
  reply.status(failure.status).send(request.routeOptions.config.toErrorBody?.(body) ?? body)
}

/** The envelope of an error. The cause of a server fault is written to the log, the only place to see it. */
export function report(error: unknown, request: FastifyRequest): ErrorBody {
  const failure = toAppError(error)
  request.failureStatus = failure.status
  if (isServersFault(error, failure)) {
    request.log.error({ err: error, code: failure.code }, failure.message)
  }
  return { error: toDetail(failure, request.id) }
}

/**
 * A caller who left and an orderly shutdown are no server faults, whatever their status; the limit of the model's
 * provider is the operator's to know.
 */
function isServersFault(error: unknown, { status, code }: AppError): boolean {
  const isMeant = code === 'shutting_down' || code === 'not_launched'
  return (
    (status >= 500 || code === 'upstream_rate_limited') &&
    !isMeant &&
    !(error instanceof CallerLeft)
  )
}

function toDetail(failure: AppError, requestId: string): ErrorDetail {
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
  const code =
    CODE_BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid_request' : undefined)
  if (!code || !(error instanceof Error)) {
    return new AppError('internal', 'Internal error', { cause: error })
  }
  const remedy = REMEDIES[codeOf(error) ?? '']
  return new AppError(code, remedy || error.message, { cause: error })
}

/** Replace Fastify's messages, which say what is wrong but not what to do about it. */
const REMEDIES: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE:
    'This media type is not supported here. Send `Content-Type: application/json`, or a form where files are accepted.',
  FST_ERR_CTP_BODY_TOO_LARGE:
    'The body is too large. Send less at once, send a long text as a file, or raise BODY_LIMIT.',
}

/**
 * Errors from Fastify, its plugins and the hooks of this package keep their status; any other 4xx becomes
 * `invalid_request`. Their messages speak only of the request.
 */
const CODE_BY_STATUS: Record<number, ErrorCode> = {
  401: 'unauthorized',
  404: 'route_not_found',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  503: 'shutting_down',
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500
  return typeof error.statusCode === 'number' ? error.statusCode : 500
}

function toInvalidRequest(error: Pick<FastifyError, 'validation'>): AppError {
  const issues = (error.validation ?? []).map(({ instancePath, message, params }) => ({
    path: instancePath.split('/').slice(1),
    message: message ?? 'is invalid',
    errors: params.errors,
  }))
  return invalidRequest(fieldsOf(issues), error)
}

/** How long a client gets to read the refusal; nothing else would ever close its socket. */
const LINGER_MS = 1_000

/**
 * Handles input that is not valid HTTP: there is no request, but it gets the same envelope, and its socket is
 * closed. The refusal waits for the responses to complete requests before it: written earlier, it would be taken
 * for one of them.
 */
export function createBrokenRequestHandler(app: FastifyInstance) {
  const answersOf = new WeakMap<Socket, Set<ServerResponse>>()
  const refused = new WeakSet<Socket>()
  app.addHook('onRequest', async ({ raw: { socket } }, { raw: response }) => {
    const answers = answersOf.get(socket) ?? new Set()
    answersOf.set(socket, answers.add(response))
    response.once('close', () => answers.delete(response))
  })

  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (refused.has(socket)) return
    refused.add(socket)
    // Responses to requests that arrived in full.
    const earlier = [...(answersOf.get(socket) ?? [])].filter(
      ({ headersSent, req }) => headersSent || req.complete,
    )
    void Promise.all(earlier.map(closed)).then(() => refuse(socket, error))
  }
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve))
}

function refuse(socket: Socket, error: NodeJS.ErrnoException): void {
  if (socket.writable) socket.end(refusalOf(error))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function refusalOf({ code: nodeCode = '' }: NodeJS.ErrnoException): string {
  const failure =
    nodeCode === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new AppError('request_timeout', 'The request did not arrive in time')
      : new AppError('invalid_request', 'This is not valid HTTP')
  const requestId = randomUUID()
  const body = JSON.stringify({ error: toDetail(failure, requestId) })
  const head = [
    `HTTP/1.1 ${failure.status} ${failure.code}`,
    `x-request-id: ${requestId}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
