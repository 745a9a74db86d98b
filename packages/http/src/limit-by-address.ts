import { createAddressLimit } from '@agent-server/lib/address-limit.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyRequest } from 'fastify'

/** A hook that bounds the requests of an address within a minute, before their body is read. */
export function limitByAddress(maximum: number) {
  const limit = createAddressLimit(maximum)
  return async ({ ip }: FastifyRequest): Promise<void> => {
    const retryAfter = limit.waitSeconds(ip)
    if (retryAfter === 0) return limit.count(ip)
    const message = 'Too many requests from this address; try again in a minute'
    throw new AppError('too_many_attempts', message, { retryAfter })
  }
}
