import type { FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'

interface RangeRequest {
  range?: string | undefined
  'if-range'?: unknown
}

/**
 * Sends a body, or the one range of its bytes that the request asks for: RFC 9110, section 14. Several ranges, and
 * units other than bytes, are answered with the whole. Throws `range_not_satisfiable`.
 */
export function sendRange(
  reply: FastifyReply,
  { range, 'if-range': ifRange }: RangeRequest,
  body: Buffer,
  { etag }: { etag: string },
): FastifyReply {
  reply.headers({ 'accept-ranges': 'bytes', etag })
  const isOutdated = ifRange !== undefined && ifRange !== etag
  const asked = /^bytes=(?!-$)(\d*)-(\d*)$/.exec(range ?? '')
  if (isOutdated || !asked) return reply.send(body)
  const [, first = '', last = ''] = asked
  const start = first === '' ? Math.max(0, body.length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? body.length : Math.min(body.length, Number(last) + 1)
  if (start >= end) {
    reply.header('content-range', `bytes */${body.length}`)
    throw new AppError('range_not_satisfiable', `There are ${body.length} bytes`, {
      param: 'range',
    })
  }
  return reply
    .status(206)
    .header('content-range', `bytes ${start}-${end - 1}/${body.length}`)
    .send(body.subarray(start, end))
}
