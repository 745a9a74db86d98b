import { sendEvents } from '@agent-server/http/event-stream.ts'
import { acceptForms, formParts, MULTIPART } from '@agent-server/http/multipart.ts'
import { acceptNdjson, answerLines, isNdjson, lineFormat } from '@agent-server/http/ndjson.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { admit, NDJSON } from '@agent-server/http/request-body.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { withFieldWarnings } from '@agent-server/http/unknown-fields.ts'
import {
  Document,
  DocumentCreated,
  DocumentParams,
  isSettled,
} from '@agent-server/schemas/document.ts'
import {
  DocumentBatch,
  DocumentBatchResult,
  DocumentLine,
  FILES,
  LineResult,
  SiteInput,
  SiteLine,
} from '@agent-server/schemas/document-batch.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  ChosenParams,
  DocumentForm,
  DocumentInput,
  IdempotencyHeaders,
  WaitQuery,
} from '@agent-server/schemas/new-document.ts'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { pageOrContent, type UploadServices } from '../documents/corpus-access.ts'
import type { Documents } from '../documents/ingestion/documents.ts'

/** Takes documents in: as JSON, as forms with a file, many at once, and from the web. */
export const uploadRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  groupRoutes(app, 'knowledge')
  app.register(jsonRoutes, services)
  app.register(formRoutes, services)
  app.register(webRoutes, services)
  app.register(batchRoutes, services)
}

const FORM = { 'multipart/form-data': DocumentForm }

const accepted = {
  200: DocumentCreated.describe('Ingestion has finished: the document is `ready` or `failed`.'),
  202: DocumentCreated.describe(
    'The document is stored and is waiting for ingestion or being ingested.',
  ),
}

const IN_BACKGROUND =
  'Responds once the document is durable; ingestion continues in the background. Poll the URL in `Location` until the status is `ready` or `failed`, or use `wait`.'

const jsonRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { corpusFor, admission } = services
  app.post('/documents', {
    config: { alsoTakes: FORM, scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'createDocument',
      summary: 'Ingest a new document',
      description: `${IN_BACKGROUND} With \`url\` but no \`text\`, the page or file at that URL is fetched first; if that fails, the request fails.`,
      headers: IdempotencyHeaders,
      querystring: WaitQuery,
      body: DocumentInput,
      response: { ...accepted, ...errorResponses(409, 429, 502, 507) },
    },
    handler: async (request, reply) => {
      const { body, headers, query } = request
      const { documents, add } = corpusFor(request.caller)
      const created = await add(body, headers['idempotency-key'], callSignal(reply))
      return answer(reply, documents, created, query)
    },
  })

  app.put('/documents/:id', {
    config: { alsoTakes: FORM, scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'putDocument',
      summary: 'Create or replace a document under your own id',
      description: `${IN_BACKGROUND} Until ingestion succeeds, queries find the previous content; afterwards, only the new content.`,
      params: ChosenParams,
      querystring: WaitQuery,
      body: DocumentInput,
      response: { ...accepted, ...errorResponses(429, 502, 507) },
    },
    handler: async (request, reply) => {
      const { body, query } = request
      const { id } = request.params
      const { documents, pages } = corpusFor(request.caller)
      const { page, content } = pageOrContent(body)
      const created = page
        ? await pages.put(id, page, callSignal(reply))
        : await documents.put(id, content)
      return answer(reply, documents, created, query)
    },
  })
}

const response = { 200: DocumentCreated, 202: DocumentCreated }
const FIELDS = Object.keys(DocumentForm.shape)
/** Each file with all its fields, and its key. */
const MAX_BATCH_PARTS = FILES.count * (FIELDS.length + 1)

/** `POST /documents` and `PUT /documents/{id}` with a form instead of JSON; the contract shows each pair as one. */
const formRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { corpusFor, maxFileBytes, admission } = services
  await acceptForms(app)

  app.post('/documents', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'createDocument',
      hide: true,
      headers: IdempotencyHeaders,
      querystring: WaitQuery,
      response,
    },
    handler: async (request, reply) => {
      const parts = withFieldWarnings(formParts(request, maxFileBytes), FIELDS, reply)
      const { documents, files } = corpusFor(request.caller)
      const created = await files.create(parts, request.headers['idempotency-key'])
      return answer(reply, documents, created, request.query)
    },
  })

  app.post('/documents/batch', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'createDocuments',
      hide: true,
      response: { 202: DocumentBatchResult },
    },
    handler: async (request, reply) => {
      const parts = formParts(request, FILES.totalBytes, MAX_BATCH_PARTS)
      const { files } = corpusFor(request.caller)
      return reply.status(202).send(await files.createAll(parts, maxFileBytes, callSignal(reply)))
    },
  })

  app.put('/documents/:id', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'putDocument',
      hide: true,
      params: ChosenParams,
      querystring: WaitQuery,
      response,
    },
    handler: async (request, reply) => {
      const parts = withFieldWarnings(formParts(request, maxFileBytes), FIELDS, reply)
      const { documents, files } = corpusFor(request.caller)
      const created = await files.put(request.params.id, parts)
      return answer(reply, documents, created, request.query)
    },
  })
}

const DESCRIPTION = `With \`application/json\`, send a list; the response comes once all documents that could be stored are durable. If any document is invalid, the whole batch is refused and the error names its position. If the queue or the disk is full, only the affected documents fail.

With \`${NDJSON}\`, send a stream of documents, one per line, of any length; the response is a stream of results, one per line, each sent as soon as its document is durable. An invalid line fails on its own. While the queue is full, the stream waits; a line that waits too long fails with \`queue_full\` and can be sent again later. If the server has to end the stream, the last line is an \`Error\`. Documents already acknowledged are kept, also if you disconnect.

With \`multipart/form-data\`, send up to ${FILES.count} files of at most ${FILES.bytes.toLocaleString('en')} bytes each, ${FILES.totalBytes.toLocaleString('en')} in all. The parts before a \`file\` belong to it: those of \`CreateDocumentFile\`, and \`idempotencyKey\`. A file that is invalid or too large fails on its own. No schema can say which part belongs to which file, so there is none for it here.`

const batchRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { corpusFor, admission } = services
  const admitBatch = admit(admission)
  acceptNdjson(app)
  app.post('/documents/batch', {
    config: {
      alsoTakes: { [NDJSON]: DocumentLine },
      scopes: ['ingest'],
    },
    // A stream of lines is not refused: it waits for room.
    onRequest: async (request) => (isNdjson(request) ? undefined : admitBatch(request)),
    schema: {
      operationId: 'createDocuments',
      summary: 'Ingest several documents',
      description: DESCRIPTION,
      body: DocumentBatch,
      response: {
        200: {
          description: 'For a stream: the result of each line.',
          content: { [NDJSON]: { schema: LineResult } },
        },
        202: DocumentBatchResult.describe(
          'For a list or a form: the result of each document; at least one was stored.',
        ),
        ...errorResponses(429, 507),
      },
    },
    // Before the body is validated as a list.
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) return
      const signal = callSignal(reply)
      const { lines } = corpusFor(request.caller)
      return answerLines(request, reply, (source, answer) => lines.run(source, answer, signal))
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(202).send(await corpusFor(caller).documents.createAll(body)),
  })
}

/**
 * Answers with a created document, after the wait that was asked for: 200 once it can be found or has failed, else 202.
 */
async function answer(
  reply: FastifyReply,
  documents: Pick<Documents, 'awaitCompletion'>,
  created: DocumentCreated,
  { wait: seconds, for: goal }: WaitQuery,
) {
  const signal = callSignal(reply)
  const document = await documents.awaitCompletion(created, { seconds, goal }, signal)
  return reply
    .status(isSettled(document) ? 200 : 202)
    .header('location', `/documents/${document.id}`)
    .send(document)
}

/** Fetches web documents again, and whole sites. */
const webRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { corpusFor }) => {
  app.post('/documents/:id/refresh', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'refreshDocument',
      summary: 'Fetch a document from its URL again',
      description:
        'Unchanged content is not ingested again, and `revision` stays the same. If the URL cannot be fetched, the response is `fetch_failed` and the document is unchanged; the failure is also recorded in `source`.',
      params: DocumentParams,
      response: {
        200: Document.describe('The document.'),
        ...errorResponses(404, 409, 502, 507),
      },
    },
    handler: ({ params, caller }, reply) =>
      corpusFor(caller).pages.refresh(params.id, callSignal(reply)),
  })

  app.post('/documents/sitemap', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'addSite',
      summary: 'Ingest the pages listed in a sitemap',
      description:
        'Every page on the sitemap’s own host becomes a document. The response has one line per page, sent as soon as it is stored; documents already acknowledged are kept if you disconnect. Sending the request again refreshes the pages and adds new ones.',
      body: SiteInput,
      response: {
        200: {
          description: 'The result of each page.',
          content: { [NDJSON]: { schema: SiteLine } },
        },
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const signal = callSignal(reply)
      sendEvents(reply, corpusFor(caller).pages.addSite(body, signal), lineFormat())
      return reply
    },
  })
}
