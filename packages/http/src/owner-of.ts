import type { Owner } from '@agent-server/lib/limiter.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyRequest } from 'fastify'

/** Whose share of what is limited a request uses: that of its key, or of its address if it needs none. */
export function ownerOf({ caller, routeOptions, ip }: FastifyRequest): Owner {
  return routeOptions.config.public ? `address ${ip}` : shareOf(caller)
}
