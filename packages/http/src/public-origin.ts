import { isLoopback } from '@agent-server/lib/origins.ts'
import type { FastifyRequest } from 'fastify'

/**
 * The origin at which the caller reaches the server: PUBLIC_URL, or without it that of this machine. Undefined if only
 * the caller or a proxy says so: whoever sends the `Host` could then choose where clients send their codes.
 */
export function publicOrigin(
  { headers }: FastifyRequest,
  publicUrl: string | undefined,
): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  const isForwarded = Object.keys(headers).some((name) => /^(x-)?forwarded/.test(name))
  const url = isForwarded ? null : URL.parse(`http://${headers.host ?? ''}`)
  return url && isLoopback(url) ? url.origin : undefined
}
