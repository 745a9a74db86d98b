import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { attachment } from '../http/download.ts'
import { type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { acceptForms, formParts, MULTIPART } from '../http/multipart.ts'
import { acceptNdjson, answerLines, isNdjson } from '../http/ndjson.ts'
import { declaredBytes, NDJSON } from '../http/request-body.ts'
import { callSignal } from '../http/shutdown.ts'
import { Document, DocumentCreated, DocumentParams } from '../schemas/document.ts'
import {
  DocumentBatch,
  DocumentBatchResult,
  DocumentLine,
  LineResult,
  SiteInput,
  SiteLine,
} from '../schemas/document-batch.ts'
import { errorResponses } from '../schemas/error.ts'
import { FILE_CONTENT } from '../schemas/fields.ts'
import { ChosenParams, IdempotencyHeaders, WaitQuery } from '../schemas/new-document.ts'
import type { Admission, Documents } from '../services/ingestion/documents.ts'
import type { LimitedTo } from '../services/keys/corpus-access.ts'

const response = { 200: DocumentCreated, 202: DocumentCreated }

/** `POST /documents` and `PUT /documents/{id}` with a form instead of JSON; the contract shows each pair as one. */
export const documentFileRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { limitedTo, maxFileBytes, admission } = services
  await acceptForms(app)

  app.post('/documents', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      ...{ operationId: 'createDocument', hide: true },
      headers: IdempotencyHeaders,
      querystring: WaitQuery,
      response,
    },
    handler: async (request, reply) => {
      const parts = formParts(request, maxFileBytes)
      const { documents, files } = limitedTo(request.caller)
      const created = await files.create(parts, request.headers['idempotency-key'])
      return answer(reply, documents, created, request.query)
    },
  })

  app.put('/documents/:id', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      ...{ operationId: 'putDocument', hide: true },
      params: ChosenParams,
      querystring: WaitQuery,
      response,
    },
    handler: async (request, reply) => {
      const parts = formParts(request, maxFileBytes)
      const { documents, files } = limitedTo(request.caller)
      const created = await files.put(request.params.id, parts)
      return answer(reply, documents, created, request.query)
    },
  })

  app.get('/documents/:id/file', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getDocumentFile',
      summary: 'Download the file that a document was sent as',
      description: 'The one that queries find; before the document is first ready, the newest.',
      params: DocumentParams,
      response: {
        200: { description: 'The file, byte for byte.', content: FILE_CONTENT },
        ...errorResponses(404),
      },
    },
    handler: async ({ params, caller }, reply) => {
      const { files } = limitedTo(caller)
      const { name, mediaType, size, pieces } = await files.read(params.id)
      return reply
        .headers({ ...attachment(name, mediaType), 'content-length': size })
        .send(Readable.from(pieces))
    },
  })
}

export interface UploadServices {
  limitedTo: LimitedTo
  /** The largest file accepted, in bytes. */
  maxFileBytes: number
  admission: Admission
}

const DESCRIPTION = `As \`application/json\` it takes a list, and answers once what could be stored is durable. A document out of its bounds refuses the whole batch, naming its place; one that finds the queue or the disk full fails alone.

As \`${NDJSON}\` it takes a stream of documents, one per line, of any length, and answers a stream of results, one per line, each as soon as its document is durable. A line out of its bounds fails alone. While the queue is full the stream waits; a line that waits too long answers \`queue_full\`: send it again later. Who breaks off keeps what was answered.`

export const batchRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { limitedTo, admission } = services
  const admitBatch = admit(admission)
  acceptNdjson(app)
  app.post('/documents/batch', {
    config: { alsoTakes: { [NDJSON]: DocumentLine }, scopes: ['ingest'] },
    // A stream of lines is not refused: it waits for room.
    onRequest: async (request) => (isNdjson(request) ? undefined : admitBatch(request)),
    schema: {
      operationId: 'createDocuments',
      summary: 'Ingest many new documents at once',
      description: DESCRIPTION,
      body: DocumentBatch,
      response: {
        200: {
          description: 'To a stream: what became of each line.',
          content: { [NDJSON]: { schema: LineResult } },
        },
        202: DocumentBatchResult.describe(
          'To a list: what became of each; at least one is stored.',
        ),
        ...errorResponses(429, 507),
      },
    },
    // Before the body is validated as a list.
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) return
      const signal = callSignal(reply)
      const { lines } = limitedTo(request.caller)
      return answerLines(request, reply, (source, answer) => lines.run(source, answer, signal))
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(202).send(await limitedTo(caller).documents.createAll(body)),
  })
}

/**
 * Answers with a created document, after the wait that was asked for: 200 once it can be found or has failed, else 202.
 */
export async function answer(
  reply: FastifyReply,
  documents: Pick<Documents, 'awaitCompletion'>,
  created: DocumentCreated,
  { wait: seconds, for: goal }: WaitQuery,
) {
  const signal = callSignal(reply)
  const document = await documents.awaitCompletion(created, { seconds, goal }, signal)
  const isFound = document.status === 'ready' && !document.meaning?.missing
  const isSettled = isFound || document.status === 'failed'
  return reply
    .status(isSettled ? 200 : 202)
    .header('location', `/documents/${document.id}`)
    .send(document)
}

/** In bytes. A smaller body arrives with its headers, so checking first would save nothing. */
const LARGE_BYTES = 65_536

/** A hook that refuses a large document before it is read if the queue is full. */
export function admit(ask: Admission) {
  return async ({ headers, params, caller }: FastifyRequest): Promise<void> => {
    if (declaredBytes(headers) < LARGE_BYTES) return
    const { id } = Object(params)
    const key = headers['idempotency-key']
    // A limited key must not learn whether another caller's document is queued or was sent before.
    if (caller.key) await ask(undefined, undefined)
    else await ask(id, typeof key === 'string' ? key : undefined)
  }
}

const LINES: FrameFormat<SiteLine> = {
  encode: (line) => `${JSON.stringify(line)}\n`,
  encodeError: (body) => `${JSON.stringify(body)}\n`,
  end: '',
  kind: { mediaType: NDJSON, keepAlive: '\n' },
}

/** Fetches web documents again, and whole sites. */
export const webRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.post('/documents/:id/refresh', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'refreshDocument',
      summary: 'Fetch a document again from its web address',
      description:
        'What has not changed is not ingested again: `revision` stays. What cannot be had answers `fetch_failed` and leaves the document as it was; `source` tells it, too.',
      params: DocumentParams,
      response: {
        200: Document.describe('The document.'),
        ...errorResponses(404, 409, 502, 507),
      },
    },
    handler: ({ params, caller }, reply) =>
      limitedTo(caller).pages.refresh(params.id, callSignal(reply)),
  })

  app.post('/documents/sitemap', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'addSite',
      summary: 'Ingest the pages that a sitemap names',
      description:
        'Each page of the sitemap’s own host becomes a document. Answers a line for each as it is stored; who breaks off keeps what was answered. Sent again it fetches the pages again, and adds new ones.',
      body: SiteInput,
      response: {
        200: {
          description: 'What became of each page.',
          content: { [NDJSON]: { schema: SiteLine } },
        },
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const signal = callSignal(reply)
      sendEvents(reply, limitedTo(caller).pages.addSite(body, signal), LINES)
      return reply
    },
  })
}
