import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { report } from './error-handler.ts'
import { contentTypeOf, NDJSON } from './request-body.ts'

/** How long a client may send nothing; the time of a whole stream has no other bound than its size. */
const IDLE_MS = 60_000

/** Lets the routes of this plugin take lines of JSON as they come, beside whole bodies. */
export function acceptNdjson(app: FastifyInstance): void {
  app.addContentTypeParser(NDJSON, (_request, payload, done) => done(null, payload))
}

export function isNdjson({ headers }: FastifyRequest): boolean {
  return contentTypeOf(headers) === NDJSON
}

/** Answers the lines of a request; what it throws ends the answer without a last line. */
type LineWork = (source: AsyncIterable<Uint8Array>, answer: (line: object) => void) => Promise<void>

/**
 * Sends lines while lines come in. Many clients read nothing before they have sent everything, so what is
 * not read yet is held, and never keeps this side from reading: the bounds of the request bound it.
 */
export function answerLines(
  request: FastifyRequest,
  reply: FastifyReply,
  work: LineWork,
): FastifyReply {
  const lines = new Readable({ read: () => undefined })
  const write = (line: object) => void lines.push(`${JSON.stringify(line)}\n`)
  const { raw } = request
  // The request may outlast the time that others have, after which its connection takes no more of them.
  reply.header('connection', 'close')
  raw.setTimeout(IDLE_MS, () => raw.destroy(new Error('The client fell silent')))
  work(raw, write)
    .catch((error: unknown) => {
      if (!raw.destroyed || raw.complete) write(report(error, request))
    })
    .finally(() => lines.push(null))
  return reply.type(`${NDJSON}; charset=utf-8`).send(lines)
}
