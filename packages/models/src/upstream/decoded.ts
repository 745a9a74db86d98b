import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

const FLUSHED = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const DECODERS: Record<string, () => Transform> = {
  gzip: () => createGunzip(FLUSHED),
  'x-gzip': () => createGunzip(FLUSHED),
  deflate: () => createInflate(FLUSHED),
  br: () => createBrotliDecompress(),
}

/** The body of an answer that a proxy compressed although that was not asked for. */
export function decoded(message: IncomingMessage): Readable {
  const decoder = DECODERS[message.headers['content-encoding'] ?? '']?.()
  // An error reaches whoever reads.
  return decoder ? pipeline(message, decoder, () => undefined) : message
}
