import type { IncomingHttpHeaders } from 'node:http'

/** Whether a client names JSON as what it can read, and nothing that an event stream would be, too. */
export function acceptsJsonOnly({ accept = '' }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return ranges.includes('application/json') && !ranges.some((range) => EVENTS.has(range ?? ''))
}

const EVENTS = new Set(['text/event-stream', 'text/*', '*/*'])
