import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { attachment, sendRange } from '../http/download.ts'
import { callSignal } from '../http/shutdown.ts'
import {
  ChunkList,
  ChunkListQuery,
  Deletion,
  DeletionQuery,
  Document,
  DocumentCreated,
  DocumentList,
  DocumentListQuery,
  DocumentParams,
  DocumentPatch,
  RangeHeaders,
  TextQuery,
} from '../schemas/document.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  ChosenParams,
  DocumentForm,
  DocumentInput,
  IdempotencyHeaders,
  WaitQuery,
} from '../schemas/new-document.ts'
import {
  admit,
  answer,
  batchRoutes,
  documentFileRoutes,
  type UploadServices,
  webRoutes,
} from './document-uploads.ts'

const PLAIN = 'text/plain; charset=utf-8'
const TEXT = { 'text/plain': { schema: z.string() } }

const FORM = { 'multipart/form-data': DocumentForm }

const accepted = {
  200: DocumentCreated.describe('Ingestion has ended: the document is ready, or has failed.'),
  202: DocumentCreated.describe('The document is stored and waits for ingestion, or is in it.'),
}

const IN_BACKGROUND =
  'Answers once the document is durable; ingestion goes on in the background. `GET` the address in `Location` until its status is `ready` or `failed`, or let the answer `wait` for it.'

export const documentRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  app.register(writingRoutes, services)
  app.register(webRoutes, services)
  app.register(documentFileRoutes, services)
  app.register(batchRoutes, services)
  app.register(readingRoutes, services)
  app.register(changingRoutes, services)
}

/** Whether a body brings its own text (`content`) or asks for the page at its URL (`page`). */
function read({ text, url, refresh, ...facts }: DocumentInput) {
  if (text === undefined) return { page: { ...facts, url: url ?? '', refresh } }
  return { content: { ...facts, text, url } }
}

const writingRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { limitedTo, admission } = services
  app.post('/documents', {
    config: { alsoTakes: FORM, scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'createDocument',
      summary: 'Ingest a new document into the corpus',
      description: `${IN_BACKGROUND} With \`url\` and without \`text\` the page or file there is fetched first: what cannot be had is answered at once.`,
      headers: IdempotencyHeaders,
      querystring: WaitQuery,
      body: DocumentInput,
      response: { ...accepted, ...errorResponses(409, 429, 502, 507) },
    },
    handler: async (request, reply) => {
      const { body, headers, query } = request
      const { documents, pages } = limitedTo(request.caller)
      const key = headers['idempotency-key']
      const { page, content } = read(body)
      const created = page
        ? await pages.create(page, key, callSignal(reply))
        : await documents.create(content, key)
      return answer(reply, documents, created, query)
    },
  })

  app.put('/documents/:id', {
    config: { alsoTakes: FORM, scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: {
      operationId: 'putDocument',
      summary: 'Replace a document, or ingest it under an id of your own',
      description: `${IN_BACKGROUND} Until then, and if ingestion fails, queries find the earlier content; then they find the new content alone.`,
      params: ChosenParams,
      querystring: WaitQuery,
      body: DocumentInput,
      response: { ...accepted, ...errorResponses(429, 502, 507) },
    },
    handler: async (request, reply) => {
      const { body, query } = request
      const { id } = request.params
      const { documents, pages } = limitedTo(request.caller)
      const { page, content } = read(body)
      const created = page
        ? await pages.put(id, page, callSignal(reply))
        : await documents.put(id, content)
      return answer(reply, documents, created, query)
    },
  })
}

const readingRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.get('/documents', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listDocuments',
      summary: 'List documents: by metadata, title and status, in the order of your choice',
      querystring: DocumentListQuery,
      response: { 200: DocumentList.describe('One page.'), ...errorResponses() },
    },
    handler: (request, reply) =>
      limitedTo(request.caller).documents.list(request.query, callSignal(reply)),
  })

  app.get('/documents/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getDocument',
      summary: 'Read a document’s state',
      params: DocumentParams,
      response: { 200: Document.describe('The document.'), ...errorResponses(404) },
    },
    handler: (request) => limitedTo(request.caller).documents.get(request.params.id),
  })

  app.get('/documents/:id/text', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getDocumentText',
      summary: 'Read the text of a document, or a part of it',
      description:
        'The text that was sent, or read out of the file, of the revision that queries find: `start` and `end` of hits and chunks are offsets into it. Of a file that was read in parts, white space between chunks may come as line breaks.',
      params: DocumentParams,
      querystring: TextQuery,
      headers: RangeHeaders,
      response: {
        200: { description: 'The text.', content: TEXT },
        206: { description: 'The bytes that `Range` asks for.', content: TEXT },
        ...errorResponses(404, 416),
      },
    },
    async handler(request, reply) {
      const { params, query, headers } = request
      const signal = callSignal(reply)
      const text = await limitedTo(request.caller).documents.openText(params.id, query, signal)
      const etag = `"${text.revision}-${query.start ?? ''}-${query.end ?? ''}"`
      const named = reply.headers(attachment(`${params.id}.txt`, PLAIN))
      return sendRange(named, headers, { ...text, etag })
    },
  })

  app.get('/documents/:id/chunks', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'listChunks',
      summary: 'List the chunks of a document',
      description: 'Of the revision that queries find; none before the document is first ready.',
      params: DocumentParams,
      querystring: ChunkListQuery,
      response: { 200: ChunkList.describe('One page.'), ...errorResponses(404) },
    },
    handler: (request) =>
      limitedTo(request.caller).documents.chunks(request.params.id, request.query),
  })
}

const changingRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.patch('/documents/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'patchDocument',
      summary: 'Change metadata of a document without ingesting it again',
      description:
        'The very next query filters by it. A replacement that is under way keeps the change.',
      params: DocumentParams,
      body: DocumentPatch,
      response: { 200: Document.describe('The document as it is now.'), ...errorResponses(404) },
    },
    handler: (request, reply) => {
      const { params, body } = request
      return limitedTo(request.caller).documents.patch(params.id, body, callSignal(reply))
    },
  })

  app.delete('/documents', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteDocuments',
      summary: 'Delete all documents that a selection takes',
      description:
        'Ask with `dryRun=true` how many there are, then send their number as `confirm`: if there are more or fewer by then, it answers 409 and nothing is deleted. What is deleted is so from the very next query on; who leaves early keeps the rest.',
      querystring: DeletionQuery,
      response: { 200: Deletion.describe('What was deleted.'), ...errorResponses(409) },
    },
    handler: (request, reply) =>
      limitedTo(request.caller).documents.removeAll(request.query, callSignal(reply)),
  })

  app.delete('/documents/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteDocument',
      summary: 'Delete a document and its chunks',
      description: 'The very next query no longer finds it.',
      params: DocumentParams,
      response: { 204: z.undefined().describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async (request, reply) => {
      await limitedTo(request.caller).documents.remove(request.params.id)
      return reply.status(204).send()
    },
  })

  app.post('/documents/:id/retry', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'retryDocument',
      summary: 'Ingest a failed document again',
      params: DocumentParams,
      response: {
        202: DocumentCreated.describe('The document waits for ingestion again.'),
        ...errorResponses(404, 409),
      },
    },
    handler: async (request, reply) =>
      reply.status(202).send(await limitedTo(request.caller).documents.retry(request.params.id)),
  })
}
