import { installAuthentication } from '@agent-server/http/authenticate.ts'
import { createHttpServer } from '@agent-server/http/create-http-server.ts'
import { installErrorHandler } from '@agent-server/http/error-handler.ts'
import { type EndedRequest, installRequestLog } from '@agent-server/http/request-log.ts'
import { installShutdown } from '@agent-server/http/shutdown.ts'
import { ErrorBody, type ErrorDetail } from '@agent-server/schemas/error.ts'
import type { FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'

export const KEY = 'a-key-for-tests-only'
/** To be spread into a route that needs no key. */
export const open = { config: { public: true } }

interface Options {
  bodyLimit?: number
  graceMs?: number
  trustProxy?: number | string[] | undefined
}

export interface OpenApp {
  app: FastifyInstance
  url: string
  port: number
  /** Every line that was logged, parsed. */
  log: LogLine[]
  /** What the request log told of each request, in the order of their ends. */
  ended: EndedRequest[]
  /** Resolves with the next request that ends after this call. */
  nextEnded(): Promise<EndedRequest>
}

export interface LogLine {
  level: number
  msg: string
  reqId?: string
  [field: string]: unknown
}

export const ERROR_LEVEL = 50

/** The real HTTP parts around the routes of one test, on a free port; closes itself after the test. */
export async function openApp(
  addRoutes: (app: FastifyInstance, stopping: AbortSignal) => void,
  { bodyLimit = 100_000, graceMs = 0, trustProxy }: Options = {},
): Promise<OpenApp> {
  const log: LogLine[] = []
  const ended: EndedRequest[] = []
  const waiting: ((request: EndedRequest) => void)[] = []
  const logger = pino({ level: 'debug' }, { write: (line) => void log.push(JSON.parse(line)) })

  const app = createHttpServer({ log: logger, bodyLimit, trustProxy })
  onTestFinished(() => app.close())
  installErrorHandler(app)
  installRequestLog(app, (request) => {
    ended.push(request)
    for (const resolve of waiting.splice(0)) resolve(request)
  })
  installShutdown(app, graceMs)
  app.addHook('onRoute', (route) => {
    route.config = { scopes: ['query'], ...route.config }
  })
  installAuthentication(app, KEY)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  addRoutes(app, app.stopping)

  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const nextEnded = () => new Promise<EndedRequest>((resolve) => waiting.push(resolve))
  return { app, url, port: Number(new URL(url).port), log, ended, nextEnded }
}

/** Lets everything happen that needs no more than turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** What a failed response says, which has to be in the one envelope. */
export async function readError(response: Response): Promise<ErrorDetail> {
  return ErrorBody.parse(await response.json()).error
}

/** The envelope of a failure, as a matcher. */
export function envelope(code: string, message: unknown, param: string | null = null) {
  return {
    error: {
      message,
      type: expect.any(String),
      code,
      param,
      request_id: expect.stringMatching(/^[\w.:-]{1,100}$/),
    },
  }
}
