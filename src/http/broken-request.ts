import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { AppError, type ErrorCode } from '../errors.ts'
import { toDetail } from './error-handler.ts'

/** How long a client gets to read the refusal; nothing else would ever close its socket. */
const FAREWELL_MILLISECONDS = 1_000

const CODE_BY_NODE_ERROR: Record<string, ErrorCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * What cannot be parsed as HTTP has no request, but gets the same envelope, and its socket is closed. It has
 * to wait for the answers to whole requests before it: written earlier, it would be taken for one of them.
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
    const earlier = [...(answersOf.get(socket) ?? [])].filter(isAnswerOfItsOwn)
    void Promise.all(earlier.map(closed)).then(() => refuse(socket, error))
  }
}

function isAnswerOfItsOwn({ headersSent, req }: ServerResponse): boolean {
  return headersSent || req.complete
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve))
}

function refuse(socket: Socket, error: NodeJS.ErrnoException): void {
  if (socket.writable) socket.end(refusalOf(error))
  setTimeout(() => socket.destroy(), FAREWELL_MILLISECONDS).unref()
}

function refusalOf({ code: nodeCode = '' }: NodeJS.ErrnoException): string {
  const code = CODE_BY_NODE_ERROR[nodeCode] ?? 'invalid_request'
  const message =
    code === 'request_timeout' ? 'The request did not arrive in time' : 'This is not valid HTTP'
  const failure = new AppError(code, message)
  const requestId = randomUUID()
  const body = JSON.stringify({ error: toDetail(failure, requestId) })
  const head = [
    `HTTP/1.1 ${failure.status} ${code}`,
    `x-request-id: ${requestId}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
