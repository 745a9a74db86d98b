import { existsSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { FastifyInstance } from 'fastify'
import { ownerOf } from './owner-of.ts'

/** Share of the file descriptors that the process may open; the rest is for files, models and databases. */
const SHARE_OF_DESCRIPTORS = 0.5
const MAX_CONNECTIONS = 10_000
/** Share of connections kept for those without a valid key yet: public checks, and clients about to send theirs. */
const STRANGERS_SHARE = 0.1
const RETRY_AFTER_SECONDS = 5

/**
 * Limits the number of connections. If there are too many, the oldest connection that has shown no valid key is
 * closed, so that `/health` stays reachable however many connections strangers hold open. A client with a key is
 * refused with `too_many_requests` if all places for those, or for this key, are taken. Install after authentication.
 */
export function installConnectionLimit(app: FastifyInstance, most = mostConnections()): void {
  const strangers = new Set<Socket>()
  const authenticated = new Map<Socket, () => void>()
  const capacity = most - Math.ceil(most * STRANGERS_SHARE)
  const places = createLimiter({ name: 'connections', capacity })

  app.server.on('connection', (socket) => {
    strangers.add(socket)
    socket.once('close', () => {
      strangers.delete(socket)
      authenticated.get(socket)?.()
      authenticated.delete(socket)
    })
    const [longest] = strangers
    if (strangers.size + authenticated.size > most) longest?.destroy()
  })
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    if (request.routeOptions.config.public || authenticated.has(socket)) return
    if (!strangers.has(socket)) return
    const leave = places.take(ownerOf(request))
    if (!leave) {
      reply.header('connection', 'close')
      const retryAfter = RETRY_AFTER_SECONDS
      throw new AppError('too_many_requests', 'Too many connections; try again shortly', {
        retryAfter,
      })
    }
    strangers.delete(socket)
    authenticated.set(socket, leave)
  })
}

/** Descriptor limit of this process, read once. */
let descriptors: number | undefined

function mostConnections(): number {
  descriptors ??= readDescriptorLimit()
  if (!Number.isFinite(descriptors)) return MAX_CONNECTIONS
  return Math.min(MAX_CONNECTIONS, Math.floor(descriptors * SHARE_OF_DESCRIPTORS))
}

const LIMITS = '/proc/self/limits'

/** Not a number elsewhere than on Linux. */
function readDescriptorLimit(): number {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, 'utf8') : ''
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
}
