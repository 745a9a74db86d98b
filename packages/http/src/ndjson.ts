import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { report } from './error-handler.ts'
import type { FrameFormat } from './event-stream.ts'
import { contentTypeOf, NDJSON } from './request-body.ts'

/** How long a client may send nothing; a whole stream may take as long as any request. */
const IDLE_MS = 60_000

/** A stream of objects, one per line; a blank line keeps the connection open. */
export function lineFormat<Line extends object>(): FrameFormat<Line> {
  return {
    encode: (line) => `${JSON.stringify(line)}\n`,
    encodeError: (body) => `${JSON.stringify(body)}\n`,
    end: '',
    kind: { mediaType: NDJSON, keepAlive: '\n' },
  }
}

/** Lets the routes of this plugin take NDJSON as a stream, besides whole bodies. */
export function acceptNdjson(app: FastifyInstance): void {
  app.addContentTypeParser(NDJSON, (_request, payload, done) => done(null, payload))
}

export function isNdjson({ headers }: FastifyRequest): boolean {
  return contentTypeOf(headers) === NDJSON
}

/** Answers the lines of a request; if it throws, the error becomes the last line. */
type LineWork = (source: AsyncIterable<Uint8Array>, answer: (line: object) => void) => Promise<void>

/**
 * Sends lines while receiving lines. Many clients read nothing until they have sent everything, so unread output is
 * buffered and never stops this side from reading; the limits of the request bound it.
 */
export function answerLines(
  request: FastifyRequest,
  reply: FastifyReply,
  work: LineWork,
): FastifyReply {
  const lines = new Readable({ read: () => undefined })
  const write = (line: object) => void lines.push(`${JSON.stringify(line)}\n`)
  const { raw } = request
  // The connection takes no further requests, since this one may outlast their time limit.
  reply.header('connection', 'close')
  raw.setTimeout(IDLE_MS, () => raw.destroy(new Error('The client stopped sending')))
  work(raw, write)
    .catch((error: unknown) => {
      if (!raw.destroyed || raw.complete) write(report(error, request))
    })
    .finally(() => lines.push(null))
  return reply.type(`${NDJSON}; charset=utf-8`).send(lines)
}
