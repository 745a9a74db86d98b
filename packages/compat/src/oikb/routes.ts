import { acceptForms, formParts, MULTIPART } from '@agent-server/http/multipart.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponsesIn } from '@agent-server/schemas/error.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { NotForm } from '../files/schema.ts'
import type { CorpusServices } from '../services.ts'
import {
  Cleanup,
  DirectoryCreated,
  KnowledgeBase,
  KnowledgeParams,
  MANIFEST_VALUES,
  Manifest,
  NewDirectory,
  OIKB_ERROR,
  Removed,
  ResetQuery,
  reasonOf,
  SyncDiff,
  SyncedFiles,
  Uploaded,
  UploadForm,
} from './schema.ts'
import { createSync } from './sync.ts'
import { checkCollection, toDirectory } from './synced-documents.ts'
import { createUpload } from './upload.ts'
import { createWaiting } from './wait-for-room.ts'

const { toErrorBody } = OIKB_ERROR
const READ = { scopes: ['query', 'ingest'], toErrorBody } as const
const WRITE = { scopes: ['ingest'], toErrorBody } as const
const errorResponses = (...more: number[]) => errorResponsesIn(OIKB_ERROR, more)

/** The part of Open WebUI's API by which oikb keeps a knowledge base equal to a source: here, a collection. */
export const oikbRoutes: FastifyPluginAsyncZod<CorpusServices> = async (app, services) => {
  groupRoutes(app, 'knowledge')
  app.addHook('onSend', async (_request, reply, payload) => {
    const reason = reply.statusCode >= 400 && reasonOf(String(payload))
    if (reason) reply.raw.statusMessage = reason
  })
  app.register(syncRoutes, services)
  app.register(knowledgeRoutes, services)
  app.register(uploadRoutes, services)
}

/** Throws `collection_not_allowed`. */
function syncOf({ corpusFor }: CorpusServices, caller: Caller, collection: string) {
  checkCollection(collection, caller)
  return createSync(corpusFor(caller).documents)
}

const syncRoutes: FastifyPluginAsyncZod<CorpusServices> = async (app, services) => {
  app.post('/api/v1/knowledge/:id/sync/diff', {
    config: { ...WRITE, maxJsonValues: MANIFEST_VALUES },
    schema: {
      operationId: 'oikbDiff',
      summary: 'Compare a source with a collection, in oikb’s protocol',
      description:
        'Only documents that came by this protocol are compared; others in the collection are left alone.',
      params: KnowledgeParams,
      body: Manifest,
      response: { 200: SyncDiff.describe('What to send and to delete.'), ...errorResponses() },
    },
    handler: ({ params: { id }, body, caller }, reply) =>
      syncOf(services, caller, id).diff(id, body, callSignal(reply)),
  })
  app.post('/api/v1/knowledge/:id/sync/cleanup', {
    config: WRITE,
    schema: {
      operationId: 'oikbCleanup',
      summary: 'Delete what a source no longer has, in oikb’s protocol',
      description:
        'Deletes the documents of files that the source has dropped. If any document did not come from the source, the request is refused and nothing is deleted.',
      params: KnowledgeParams,
      body: Cleanup,
      response: { 200: Removed.describe('Deleted.'), ...errorResponses() },
    },
    handler: ({ params: { id }, body, caller }, reply) =>
      syncOf(services, caller, id).cleanup(id, body, callSignal(reply)),
  })
  app.post('/api/v1/knowledge/:id/dirs/create', {
    config: WRITE,
    schema: {
      operationId: 'oikbCreateDirectory',
      summary: 'Name a directory, in oikb’s protocol',
      description: 'A directory is a part of the paths of documents; nothing is stored for it.',
      params: KnowledgeParams,
      body: NewDirectory,
      response: { 200: DirectoryCreated.describe('The directory.'), ...errorResponses() },
    },
    handler: async ({ params, body: { name, parent_id = '' }, caller }) => {
      checkCollection(params.id, caller)
      return { id: toDirectory(`${parent_id}/${name}`), name, parent_id: parent_id || null }
    },
  })
}

const knowledgeRoutes: FastifyPluginAsyncZod<CorpusServices> = async (app, services) => {
  app.get('/api/v1/knowledge/:id', {
    config: READ,
    schema: {
      operationId: 'oikbGetKnowledge',
      summary: 'Get a collection, in oikb’s protocol',
      description: 'A collection exists as soon as it is named.',
      params: KnowledgeParams,
      response: { 200: KnowledgeBase.describe('The collection.'), ...errorResponses() },
    },
    handler: async ({ params: { id }, caller }) => {
      checkCollection(id, caller)
      return { id, name: id, description: '' }
    },
  })
  app.get('/api/v1/knowledge/:id/files', {
    config: READ,
    schema: {
      operationId: 'oikbListFiles',
      summary: 'List what came from a source, in oikb’s protocol',
      description: 'Returns the documents that came from the source, with path, size and hash.',
      params: KnowledgeParams,
      response: { 200: SyncedFiles.describe('The files.'), ...errorResponses() },
    },
    handler: ({ params: { id }, caller }, reply) =>
      syncOf(services, caller, id).list(id, callSignal(reply)),
  })
  app.post('/api/v1/knowledge/:id/reset', {
    config: WRITE,
    schema: {
      operationId: 'oikbReset',
      summary: 'Delete what came from a source, in oikb’s protocol',
      description: 'Other documents of the collection stay.',
      params: KnowledgeParams,
      querystring: ResetQuery,
      response: { 200: Removed.describe('Deleted.'), ...errorResponses() },
    },
    handler: ({ params: { id }, caller }, reply) =>
      syncOf(services, caller, id).reset(id, callSignal(reply)),
  })
}

const uploadRoutes: FastifyPluginAsyncZod<CorpusServices> = async (app, services) => {
  const { corpusFor, maxFileBytes, admission } = services
  const whenThereIsRoom = createWaiting(admission)
  await acceptForms(app)
  app.post('/api/v1/files', {
    config: { ...WRITE, alsoTakes: { 'multipart/form-data': UploadForm } },
    schema: {
      operationId: 'oikbUpload',
      summary: 'Send a file of a source, in oikb’s protocol',
      description:
        'Adds the document of this path, or replaces its content, which is found until the new one is ready. While the queue is full, the request waits.',
      body: NotForm,
      response: {
        200: Uploaded.describe('The file. Ingestion continues in the background.'),
        ...errorResponses(507),
      },
    },
    handler: () => Promise.reject(new TypeError('No body of JSON fits')),
  })
  app.post('/api/v1/files', {
    constraints: MULTIPART,
    config: WRITE,
    schema: { operationId: 'oikbUpload', hide: true, response: { 200: Uploaded } },
    handler: (request, reply) => {
      const { caller } = request
      const signal = callSignal(reply)
      return whenThereIsRoom(async () => {
        const upload = createUpload({ ...corpusFor(caller), caller })
        const parts = formParts(request, maxFileBytes)
        try {
          return await upload(parts, signal)
        } finally {
          await parts.return(undefined)
        }
      }, signal)
    },
  })
}
