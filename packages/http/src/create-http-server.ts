import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createOutboundPolicy } from '@agent-server/lib/outbound/policy.ts'
import { whyTooComplex } from '@agent-server/lib/text/json.ts'
import { installErrorMessages, refusal } from '@agent-server/schemas/invalid-request.ts'
import sensible from '@fastify/sensible'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { createBrokenRequestHandler, sendError } from './error-handler.ts'
import { formRouting } from './multipart.ts'
import { withoutOpenAiPrefix } from './openai-base-path.ts'
import { installBodyDeadline, installExpectContinue, leaveUnreadBodies } from './request-body.ts'
import { rewriteWebUiUrl } from './web-ui-access.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How many values a body of JSON may have, if more than usual. */
    maxJsonValues?: number
  }
}

export interface HttpOptions {
  log: FastifyBaseLogger
  /** In bytes. */
  bodyLimit: number
  /** Whether the web UI's own paths are routed. */
  hasWebUi?: boolean
  /** Which proxies are trusted about the caller's address, host and HTTPS: their number, or their addresses. */
  trustProxy?: number | string[] | undefined
}

/** From the first byte of a request to its last: for uploads on a slow line. Bodies read whole get less. */
const REQUEST_MS = 3_600_000
/** Longer than the idle timeout of common load balancers, so that they are the first to close. */
const KEEP_ALIVE_MS = 75_000
/** Fits the longest parameter, the name of a model, percent-encoded; each is bounded by its schema as well. */
const MAX_PARAMETER_LENGTH = 1_024

/** Fits an access token with many groups, or the names of 200 groups in a header, beside a cookie. */
const MAX_HEADER_BYTES = 65_536

/** A caller's request id is kept for tracing across services if it is harmless in a log. */
const REQUEST_ID = /^[\w.:-]{1,100}$/

export function createHttpServer(options: HttpOptions): FastifyInstance {
  const { log, bodyLimit, hasWebUi, trustProxy: trusted = false } = options
  installErrorMessages()
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    ...ZOD_COMPILERS,
    trustProxy: typeof trusted === 'number' ? proxies(trusted) : trusted,
    rewriteUrl: (request) =>
      withoutOpenAiPrefix(hasWebUi ? rewriteWebUiUrl(request) : (request.url ?? '/')),
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: {
      maxParamLength: MAX_PARAMETER_LENGTH,
      ignoreTrailingSlash: true,
      constraints: formRouting,
    },
    genReqId: ({ headers }) => {
      const requestId = headers['x-request-id']
      return typeof requestId === 'string' && REQUEST_ID.test(requestId) ? requestId : randomUUID()
    },
    // Fastify's own refusal has another shape; `installShutdown` refuses with the common
    // error envelope.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      sendError(error, request, reply.header('x-request-id', request.id)),
    clientErrorHandler: (error, socket) => refuseBroken(error, socket),
  })
  app.register(sensible)
  const refuseBroken = createBrokenRequestHandler(app)
  refuseCompressedBodies(app)
  installExpectContinue(app)
  installBodyDeadline(app)
  leaveUnreadBodies(app)
  ignoreTypesOfNothing(app)
  parseJsonBodies(app)
  // With it, plain text would reach the routes and be refused for its shape, not for its media type.
  app.removeContentTypeParser('text/plain')
  return app
}

/** Passed at construction, so that Fastify loads none of its own; its types know no other compilers here. */
const ZOD_COMPILERS: object = {
  schemaController: {
    compilersFactory: {
      buildValidator: () => validatorCompiler,
      buildSerializer: () => serializerCompiler,
    },
  },
}

const { allowsAddress: isPublic } = createOutboundPolicy([])

/** Trusts the nearest `count` hops, if the first of them has a private address: a public one is no proxy of ours. */
function proxies(count: number) {
  return (address: string, hop: number) => hop < count && (hop > 0 || !isPublic(address))
}

/** Refuses compressed bodies before they are read; otherwise they would be refused as invalid JSON. */
function refuseCompressedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ headers }) => {
    const coding = headers['content-encoding'] ?? 'identity'
    if (coding === 'identity') return
    throw app.httpErrors.unsupportedMediaType('Compressed request bodies are not supported')
  })
}

/** Drops the media type of an empty body: many clients always send one, as `curl -X POST -d ''` or SDKs on DELETE. */
function ignoreTypesOfNothing(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ raw: { headers }, routeOptions }) => {
    const isEmpty = Number(headers['content-length'] ?? 0) === 0 && !headers['transfer-encoding']
    if (isEmpty && !routeOptions.schema?.body) delete headers['content-type']
  })
}

/**
 * Parses JSON of bounded complexity. It is UTF-8 (RFC 8259, section 8.1): decoded all the same, other bytes would become
 * U+FFFD in documents, unnoticed.
 */
function parseJsonBodies(app: FastifyInstance): void {
  const parseDefault = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  const parse = (request: FastifyRequest, text: string) =>
    new Promise<unknown>((resolve, reject) => {
      const done = (error: Error | null, value?: unknown) =>
        error ? reject(error) : resolve(value)
      void parseDefault(request, text, done)
    })
  const bytes = { parseAs: 'buffer' } as const
  app.addContentTypeParser(
    'application/json',
    bytes,
    async (request: FastifyRequest, body: Buffer) => {
      const refused = whyTooComplex(body, request.routeOptions.config.maxJsonValues)
      if (refused !== undefined) throw refusal('', `The body ${refused}`)
      if (!isUtf8(body)) throw app.httpErrors.badRequest('The body is not valid UTF-8')
      if (body.length <= SHORT_BODY) return parse(request, body.toString())
      await nextTurn()
      const text = body.toString()
      await nextTurn()
      const value = await parse(request, text)
      await nextTurn()
      return value
    },
  )
}

/** In bytes. Of a longer body each step takes milliseconds, so that others get a turn between them. */
const SHORT_BODY = 262_144
