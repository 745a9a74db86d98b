import { Readable } from 'node:stream'
import { AppError } from '@agent-server/lib/errors.ts'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply } from 'fastify'

/** All media types that browsers run as a script, and no other: https://mimesniff.spec.whatwg.org/#javascript-mime-type */
const SCRIPT = /\/(?:x-)?(?:java|ecma|j|live)script/i

/**
 * Headers for a file of untrusted content: a browser saves it, does not guess another type, and gives it no rights
 * if it shows it all the same. A script is named plain text: pages of this server may load scripts from it.
 */
export function attachment(name: string, mediaType: string): Record<string, string> {
  return {
    'content-type': SCRIPT.test(mediaType) ? 'text/plain' : mediaType,
    'content-disposition': contentDisposition(name.toWellFormed()),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  }
}

interface RangeRequest {
  range?: string | undefined
  'if-range'?: unknown
}

interface Body {
  etag: string
  /** In bytes. */
  size: number
  /** The bytes from `first` up to but not including `end`. */
  read(first: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/**
 * Streams a body, or the one range of bytes that the request asks for (RFC 9110, section 14). Several ranges, or
 * units other than bytes, are answered with the whole body. Throws `range_not_satisfiable`.
 */
export function sendRange(
  reply: FastifyReply,
  { range, 'if-range': ifRange }: RangeRequest,
  { etag, size, read }: Body,
): FastifyReply {
  reply.headers({ 'accept-ranges': 'bytes', etag })
  const send = (first: number, end: number) =>
    reply.header('content-length', end - first).send(Readable.from(read(first, end)))
  const isOutdated = ifRange !== undefined && ifRange !== etag
  const byteRange = /^bytes=(?!-$)(\d*)-(\d*)$/.exec(range ?? '')
  if (isOutdated || !byteRange) return send(0, size)
  const [, first = '', last = ''] = byteRange
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start >= end) {
    reply.header('content-range', `bytes */${size}`)
    throw new AppError('range_not_satisfiable', `The text has ${size} bytes`, { param: 'range' })
  }
  reply.status(206).header('content-range', `bytes ${start}-${end - 1}/${size}`)
  return send(start, end)
}
