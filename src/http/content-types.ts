import type { IncomingHttpHeaders } from 'node:http'
import { create as contentDisposition } from 'content-disposition'

export const MULTIPART_FORM = 'multipart/form-data'
export const NDJSON = 'application/x-ndjson'

/** What the body of a request is said to be, without parameters; empty where nothing is said. */
export function mediaTypeOf({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/**
 * The headers of a file that nobody vouches for: kept as a file, of no other type than it is said to be,
 * and without rights where a browser shows it all the same.
 */
export function attachment(name: string, mediaType: string): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': contentDisposition(name.toWellFormed()),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  }
}

/** Whether a client names JSON as what it can read, and nothing that an event stream would be, too. */
export function acceptsJsonOnly({ accept = '' }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.includes('application/json') && !ranges.some((range) => EVENTS.has(range ?? ''))
}

const EVENTS = new Set(['text/event-stream', 'text/*', '*/*'])
