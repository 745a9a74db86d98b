import type { IncomingHttpHeaders } from 'node:http'
import { mediaTypeOf } from './media-type.ts'

export const MULTIPART_FORM = 'multipart/form-data'
export const NDJSON = 'application/x-ndjson'

/** Whether a body is read piece by piece and never held whole, and so has bounds of its own. */
export function isStreamedBody(headers: IncomingHttpHeaders): boolean {
  return [MULTIPART_FORM, NDJSON].includes(mediaTypeOf(headers))
}
