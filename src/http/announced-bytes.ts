import type { IncomingHttpHeaders } from 'node:http'

/** How long the body of a request is said to be; infinite where it is not said. */
export function announcedBytes(headers: IncomingHttpHeaders): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY
  return Number(headers['content-length'] ?? 0)
}
