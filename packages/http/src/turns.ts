import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { FastifyInstance } from 'fastify'
import { ownerOf } from './owner-of.ts'
import { callSignal } from './shutdown.ts'

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
  const turns = createLimiter({ name: 'requests', capacity: MAX_REQUESTS, most: MAX_OF_ONE })
  app.addHook('onRequest', async (request, reply) => {
    const { public: isPublic, takesLong } = request.routeOptions.config
    // Whoever hung up during the lookup of the key: no `close` would follow.
    if (isPublic || takesLong || reply.raw.destroyed) return
    const owner = ownerOf(request)
    const leave = turns.take(owner) ?? (await turns.enter(owner, callSignal(reply)))
    let isOver = false
    const end = () => {
      if (!isOver) leave()
      isOver = true
      clearTimeout(timer)
    }
    const timer = setTimeout(end, turnMs)
    reply.raw.once('close', end)
  })
}

/** Shorter answers are gone before anybody could hold many. */
const LARGE_CHARACTERS = 65_536
/** In bytes, or characters of text. */
const MAX_UNREAD = 2 ** 30
const RETRY_AFTER_SECONDS = 1

/**
 * Limits the memory of all answers that wait to be read, of which each key may have its share: whoever asks for many
 * and reads none holds them. Throws `too_much_at_once`.
 */
export function installAnswerBudget(app: FastifyInstance): void {
  const unread = createLimiter({ name: 'answers that nobody has read', capacity: MAX_UNREAD })
  app.addHook('onSend', async (request, { raw }, payload) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!isWhole || payload.length < LARGE_CHARACTERS || raw.destroyed) return
    const release = unread.take(ownerOf(request), payload.length)
    if (!release) throw tooMuch()
    raw.once('close', release)
  })
}

const tooMuch = () =>
  new AppError('too_much_at_once', 'Too many answers wait to be read; read them, then try again', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
