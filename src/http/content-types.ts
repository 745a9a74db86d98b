import type { IncomingHttpHeaders } from 'node:http'

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
    'content-disposition': `attachment; filename="${asciiName(name)}"; filename*=UTF-8''${encodeName(name)}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  }
}

function asciiName(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
}

/** https://www.rfc-editor.org/rfc/rfc8187 allows fewer characters than encodeURIComponent leaves. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Whether a client names JSON as what it can read, and nothing that an event stream would be, too. */
export function acceptsJsonOnly({ accept = '' }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.includes('application/json') && !ranges.some((range) => EVENTS.has(range ?? ''))
}

const EVENTS = new Set(['text/event-stream', 'text/*', '*/*'])
