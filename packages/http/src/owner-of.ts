import type { Owner } from '@agent-server/lib/limiter.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyRequest } from 'fastify'

/** Whose share of what is limited a request uses: that of its key, or of its address if it needs none. */
export function ownerOf(request: FastifyRequest): Owner {
  // A link that is signed needs no key either.
  const { caller }: { caller?: FastifyRequest['caller'] } = request
  const isStranger = request.routeOptions.config.public || caller === undefined
  return isStranger ? `address ${request.ip}` : shareOf(caller)
}
