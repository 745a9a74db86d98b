import { Readable } from 'node:stream'
import { attachment, sendRange } from '@agent-server/http/download.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
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
} from '@agent-server/schemas/document.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { FILE_CONTENT } from '@agent-server/schemas/fields.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CorpusFor } from '../documents/corpus-access.ts'

const PLAIN = 'text/plain; charset=utf-8'
const TEXT = { 'text/plain': { schema: z.string() } }

interface DocumentServices {
  corpusFor: CorpusFor
}

/** Reads, changes and deletes documents; `document-uploads.ts` takes new ones. */
export const documentRoutes: FastifyPluginAsyncZod<DocumentServices> = async (app, services) => {
  groupRoutes(app, 'knowledge')
  app.register(readingRoutes, services)
  app.register(changingRoutes, services)
}

const readingRoutes: FastifyPluginAsyncZod<DocumentServices> = async (app, { corpusFor }) => {
  app.get('/documents', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listDocuments',
      summary: 'List documents',
      description:
        'Returns documents page by page, newest first unless `sort` says otherwise. `nextCursor` leads to the next page.',
      querystring: DocumentListQuery,
      response: { 200: DocumentList.describe('A page of results.'), ...errorResponses() },
    },
    handler: (request, reply) =>
      corpusFor(request.caller).documents.list(request.query, callSignal(reply)),
  })

  app.get('/documents/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getDocument',
      summary: 'Get a document',
      description: 'Returns the status, metadata and warnings of a document, without its text.',
      params: DocumentParams,
      response: { 200: Document.describe('The document.'), ...errorResponses(404) },
    },
    handler: (request) => corpusFor(request.caller).documents.get(request.params.id),
  })

  app.get('/documents/:id/text', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getDocumentText',
      summary: 'Get all or part of a document’s text',
      description:
        'Returns the text that was sent or extracted, in the revision that queries find. `start` and `end` of hits and chunks are offsets into this text. If a large file was read in parts, white space between chunks may be replaced by line breaks.',
      params: DocumentParams,
      querystring: TextQuery,
      headers: RangeHeaders,
      response: {
        200: { description: 'The text of the document.', content: TEXT },
        206: { description: 'The requested byte range.', content: TEXT },
        ...errorResponses(404, 409, 416),
      },
    },
    async handler(request, reply) {
      const { params, query, headers } = request
      const signal = callSignal(reply)
      const text = await corpusFor(request.caller).documents.openText(params.id, query, signal)
      const etag = `"${text.revision}-${query.start ?? ''}-${query.end ?? ''}"`
      const response = reply.headers(attachment(`${params.id}.txt`, PLAIN))
      return sendRange(response, headers, { ...text, etag })
    },
  })

  app.get('/documents/:id/chunks', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'listChunks',
      summary: 'List the chunks of a document',
      description:
        'Returns the chunks of the revision that queries find; the list is empty until the document is first ready.',
      params: DocumentParams,
      querystring: ChunkListQuery,
      response: { 200: ChunkList.describe('A page of results.'), ...errorResponses(404) },
    },
    handler: (request) =>
      corpusFor(request.caller).documents.chunks(request.params.id, request.query),
  })

  app.get('/documents/:id/file', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getDocumentFile',
      summary: 'Download a document’s original file',
      description:
        'Returns the file of the revision that queries find, or the newest one if the document has never been ready.',
      params: DocumentParams,
      response: {
        200: { description: 'The original file.', content: FILE_CONTENT },
        ...errorResponses(404),
      },
    },
    handler: async ({ params, caller }, reply) => {
      const { files } = corpusFor(caller)
      const { name, mediaType, size, pieces } = await files.read(params.id)
      return reply
        .headers({ ...attachment(name, mediaType), 'content-length': size })
        .send(Readable.from(pieces))
    },
  })
}

const changingRoutes: FastifyPluginAsyncZod<DocumentServices> = async (app, { corpusFor }) => {
  app.patch('/documents/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'patchDocument',
      summary: 'Change a document’s title or metadata',
      description:
        'Metadata changes take effect immediately, without ingesting the document again, and survive a replacement in progress. A new title ingests the same content again.',
      params: DocumentParams,
      body: DocumentPatch,
      response: {
        200: Document.describe('The updated document.'),
        ...errorResponses(404, 409, 429, 507),
      },
    },
    handler: (request, reply) => {
      const { params, body } = request
      return corpusFor(request.caller).documents.patch(params.id, body, callSignal(reply))
    },
  })

  app.delete('/documents', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteDocuments',
      summary: 'Delete documents that match a selection',
      description:
        'First send `dryRun=true` to count the documents, then send that number as `confirm`. If the number has changed by then, the response is 409 and nothing is deleted. Deletions take effect immediately. If you disconnect, documents not yet deleted remain.',
      querystring: DeletionQuery,
      response: {
        200: Deletion.describe('The number of documents deleted.'),
        ...errorResponses(409),
      },
    },
    handler: (request, reply) =>
      corpusFor(request.caller).documents.removeAll(request.query, callSignal(reply)),
  })

  app.delete('/documents/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteDocument',
      summary: 'Delete a document and its chunks',
      description: 'Takes effect immediately.',
      params: DocumentParams,
      response: { 204: z.undefined().describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async (request, reply) => {
      await corpusFor(request.caller).documents.remove(request.params.id)
      return reply.status(204).send()
    },
  })

  app.post('/documents/:id/retry', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'retryDocument',
      summary: 'Retry a failed ingestion',
      description:
        'Queues a failed document again, with its attempts counted anew. A document in any other state is refused.',
      params: DocumentParams,
      response: {
        202: DocumentCreated.describe('The document is queued for ingestion again.'),
        ...errorResponses(404, 409),
      },
    },
    handler: async (request, reply) =>
      reply.status(202).send(await corpusFor(request.caller).documents.retry(request.params.id)),
  })
}
