import type { IncomingHttpHeaders } from 'node:http'

const STREAMED = /^(?:multipart\/form-data|application\/x-ndjson)\s*(?:;|$)/i

/** Whether a body is read piece by piece and never held whole, and so has bounds of its own. */
export function isStreamedBody({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return STREAMED.test(type)
}
