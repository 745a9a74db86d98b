import type { IncomingHttpHeaders } from 'node:http'

/** What the body of a request is said to be, without parameters; empty where nothing is said. */
export function mediaTypeOf({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}
