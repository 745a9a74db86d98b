import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import sensible from '@fastify/sensible'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { createOutboundPolicy } from '../lib/outbound/policy.ts'
import { speakPlainly } from '../schemas/invalid-request.ts'
import { createBrokenRequestHandler, sendError } from './error-handler.ts'
import { formRouting } from './multipart.ts'
import { installBodyDeadline, installExpectContinue, leaveUnreadBodies } from './request-body.ts'
import { rewriteScreenUrl } from './screen-access.ts'

export interface HttpOptions {
  log: FastifyBaseLogger
  /** Bytes. */
  bodyLimit: number
  /** Whether the screen's own paths are routed. */
  hasScreen?: boolean
  /** Which proxies in front are believed about the caller's address, host and HTTPS: how many, or where. */
  trustProxy?: number | string[] | undefined
}

/** From the first byte of a request to its last. For uploads on a slow line; what is read whole gets less. */
const REQUEST_MS = 3_600_000
/** Longer than the idle limit of common load balancers, so that it is not this side that closes first. */
const KEEP_ALIVE_MS = 75_000
/** Of the longest, the id of a batch, which names its files; others are bounded by their schemas. */
const MAX_PARAMETER_LENGTH = 8_192

/** Identifiers of callers are kept for tracing across services, where they are harmless in a log. */
const REQUEST_ID = /^[\w.:-]{1,100}$/

export function createHttpServer(options: HttpOptions): FastifyInstance {
  const { log, bodyLimit, hasScreen, trustProxy: trusted = false } = options
  speakPlainly()
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    ...ZOD_COMPILERS,
    trustProxy: typeof trusted === 'number' ? proxies(trusted) : trusted,
    ...(hasScreen && { rewriteUrl: rewriteScreenUrl }),
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: {
      maxParamLength: MAX_PARAMETER_LENGTH,
      ignoreTrailingSlash: true,
      constraints: formRouting,
    },
    genReqId: ({ headers }) => {
      const given = headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // Fastify's own refusal has another shape; `installShutdown` refuses in the one envelope.
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
  requireUtf8(app)
  // Without it, text would reach the routes and be refused for its shape and not for its media type.
  app.removeContentTypeParser('text/plain')
  return app
}

/** Given as it is made, so that Fastify loads none of its own, the only ones that its types know here. */
const ZOD_COMPILERS: object = {
  schemaController: {
    compilersFactory: {
      buildValidator: () => validatorCompiler,
      buildSerializer: () => serializerCompiler,
    },
  },
}

const { allowsAddress: isPublic } = createOutboundPolicy([])

/** The nearest ones, where the first of them is in a network of the server's own: whoever comes from elsewhere is no proxy. */
function proxies(count: number) {
  return (address: string, hop: number) => hop < count && (hop > 0 || !isPublic(address))
}

/** Refused before it is read; otherwise it would be refused as invalid JSON. */
function refuseCompressedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ headers }) => {
    const coding = headers['content-encoding'] ?? 'identity'
    if (coding === 'identity') return
    throw app.httpErrors.unsupportedMediaType('Compressed bodies are not supported')
  })
}

/** Many clients name a media type whatever they send: `curl -X POST -d ''`, or an SDK that deletes. */
function ignoreTypesOfNothing(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ raw: { headers }, routeOptions }) => {
    const isEmpty = Number(headers['content-length'] ?? 0) === 0 && !headers['transfer-encoding']
    if (isEmpty && !routeOptions.schema?.body) delete headers['content-type']
  })
}

/** JSON is UTF-8 (RFC 8259, section 8.1). Decoded all the same, other bytes would become U+FFFD in documents, unnoticed. */
function requireUtf8(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  const bytes = { parseAs: 'buffer' } as const
  app.addContentTypeParser<Buffer>('application/json', bytes, (request, body, done) => {
    if (isUtf8(body)) return parseJson(request, body.toString(), done)
    done(app.httpErrors.badRequest('Body is not valid UTF-8, the encoding of JSON'))
  })
}
