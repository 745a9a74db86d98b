import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, TooManyWaiting } from '@agent-server/lib/limiter.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ownerOf } from './owner-of.ts'
import { CallerLeft, callSignal } from './shutdown.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Waits for a model or for news, and has a limiter of its own; what quotes documents without a model waits for nothing. */
    takesLong?: boolean
  }
}

/** How many requests of one owner are worked on at a time: what they need is shared, above all the main thread. */
const MAX_OF_ONE = 8
const MAX_REQUESTS = 1_024
/** What takes longer waits for something else than the processor, and others of its owner may begin. */
const TURN_MS = 2_000

/**
 * Lets the requests of each owner be worked on a few at a time; the rest wait. So a hundred of one key that take the
 * processor a tenth of a second each do not stand before another's. Install after authentication.
 */
export function installTurns(app: FastifyInstance, turnMs = TURN_MS): void {
  const turns = createLimiter({
    name: 'requests',
    capacity: MAX_REQUESTS,
    most: MAX_OF_ONE,
    maxWaiting: MAX_REQUESTS,
  })
  app.addHook('onRequest', async (request, reply) => {
    const { public: isPublic, takesLong } = request.routeOptions.config
    // Whoever hung up during the lookup of the key: no `close` would follow.
    if (isPublic || takesLong || reply.raw.destroyed) return
    const owner = ownerOf(request)
    const leave = turns.take(owner) ?? (await turns.enter(owner, callSignal(reply)).catch(refuse))
    // All that waited on it would begin at once, for nobody.
    if (request.raw.socket.destroyed) {
      leave()
      throw new CallerLeft()
    }
    let isOver = false
    const end = () => {
      if (!isOver) leave()
      isOver = true
      clearTimeout(timer)
    }
    const timer = setTimeout(end, turnMs)
    whenOver(request, reply, end)
  })
}

function refuse(error: unknown): never {
  if (!(error instanceof TooManyWaiting)) throw error
  throw tooMuch('Too many requests wait; send fewer at a time, then try again')
}

/** What ends with each connection. */
const endings = new WeakMap<FastifyRequest['raw']['socket'], Set<() => void>>()

/**
 * Calls `end` once the answer has been sent or its connection has ended: of answers that wait behind another one on the
 * same connection, Node.js closes none.
 */
function whenOver({ raw: { socket } }: FastifyRequest, reply: FastifyReply, end: () => void): void {
  const known = endings.get(socket)
  const ends = known ?? new Set()
  if (!known) {
    endings.set(socket, ends)
    socket.once('close', () => {
      for (const each of ends) each()
    })
  }
  const once = () => {
    if (ends.delete(once)) end()
  }
  ends.add(once)
  reply.raw.once('close', once)
  if (socket.destroyed) once()
}

/** Shorter answers are sent before anybody could hold many of them. */
const LARGE_BYTES = 65_536
const MAX_UNREAD_BYTES = 2 ** 30
const RETRY_AFTER_SECONDS = 1

/**
 * Limits the memory of all answers that wait to be read, of which each key may have its share: whoever asks for many
 * and reads none holds them. Throws `too_many_requests` for what can be asked for again; what has changed something, or
 * has been paid for, is answered.
 */
export function installAnswerBudget(app: FastifyInstance, capacity = MAX_UNREAD_BYTES): void {
  const unread = createLimiter({ name: 'answers that nobody has read', capacity })
  app.addHook('onSend', async (request, reply, payload) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!isWhole || payload.length < LARGE_BYTES || reply.raw.destroyed) return
    const release = unread.take(ownerOf(request), Buffer.byteLength(payload))
    if (release) whenOver(request, reply, release)
    else if (request.method === 'GET')
      throw tooMuch('Too many answers wait to be read; read them, then try again')
  })
}

const tooMuch = (message: string) =>
  new AppError('too_many_requests', message, { retryAfter: RETRY_AFTER_SECONDS })
