import { Readable } from 'node:stream'
import { attachment } from '@agent-server/http/download.ts'
import { acceptForms, formParts, MULTIPART } from '@agent-server/http/multipart.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { admit } from '@agent-server/http/request-body.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { withFieldWarnings } from '@agent-server/http/unknown-fields.ts'
import { DocumentParams } from '@agent-server/schemas/document.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { FILE_CONTENT } from '@agent-server/schemas/fields.ts'
import { DocumentForm } from '@agent-server/schemas/new-document.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { fileBatchRoutes } from './batch-routes.ts'
import { createFileSearch, type FileServices, type Plugged, sayWhenToPoll } from './file-search.ts'
import {
  FileForm,
  FileList,
  FileListQuery,
  FileObject,
  NewVectorStore,
  NotForm,
  Removed,
  StoreFile,
  StoreFileContent,
  StoreFileContentQuery,
  StoreFileInput,
  StoreFileList,
  StoreFileListQuery,
  StoreFileParams,
  StoreFileUpdate,
  StoreParams,
  StoreSearch,
  StoreSearchResults,
  VectorStore,
  VectorStoreList,
  VectorStoreListQuery,
  VectorStoreUpdate,
} from './schema.ts'

/** Documents and collections as OpenAI's files and vector stores. */
export const fileSearchRoutes: FastifyPluginAsyncZod<FileServices> = async (app, dependencies) => {
  const services = {
    ...dependencies,
    fileSearch: (caller: Caller) => createFileSearch(dependencies, caller),
  }
  groupRoutes(app, 'knowledge')
  app.register(fileRoutes, services)
  app.register(storeRoutes, services)
  app.register(storeFileRoutes, services)
  app.register(fileBatchRoutes, services)
}

/** The fields of a document are accepted, too. */
const FIELDS = [...Object.keys(FileForm.shape), ...Object.keys(DocumentForm.shape)]

const fileRoutes: FastifyPluginAsyncZod<Plugged> = async (app, services) => {
  const { corpusFor, maxFileBytes, admission, fileSearch } = services
  await acceptForms(app)
  app.post('/v1/files', {
    config: { alsoTakes: { 'multipart/form-data': FileForm }, scopes: ['ingest'] },
    schema: {
      operationId: 'createFile',
      summary: 'Upload a file as a document',
      description: 'Same as `POST /documents` with a form. Ingestion continues in the background.',
      body: NotForm,
      response: { 200: FileObject.describe('The file.'), ...errorResponses(507) },
    },
    handler: () => Promise.reject(new TypeError('No body of JSON fits')),
  })
  app.post('/v1/files', {
    constraints: MULTIPART,
    config: { scopes: ['ingest'] },
    onRequest: admit(admission),
    schema: { operationId: 'createFile', hide: true, response: { 200: FileObject } },
    handler: async (request, reply) => {
      const { files } = corpusFor(request.caller)
      const parts = withFieldWarnings(formParts(request, maxFileBytes), FIELDS, reply)
      const { id } = await files.create(parts)
      return fileSearch(request.caller).files.file(id)
    },
  })
  app.get('/v1/files', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listFiles',
      summary: 'List documents as files',
      description: 'A file is a document. Returns those that the key may see, page by page.',
      querystring: FileListQuery,
      response: { 200: FileList.describe('A page of files.'), ...errorResponses(404) },
    },
    handler: ({ query, caller }, reply) =>
      fileSearch(caller).files.listFiles(query, callSignal(reply)),
  })
  app.get('/v1/files/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getFile',
      summary: 'Get a document as a file',
      description: 'Returns a document in the shape of a file.',
      params: DocumentParams,
      response: { 200: FileObject.describe('The file.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => fileSearch(caller).files.file(params.id),
  })
  app.get('/v1/files/:id/content', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getFileContent',
      summary: 'Download a file',
      description: 'Returns the original file, or the text of a document that was sent as text.',
      params: DocumentParams,
      response: {
        200: { description: 'The file.', content: FILE_CONTENT },
        ...errorResponses(404),
      },
    },
    async handler({ params: { id }, caller }, reply) {
      const { documents, files } = corpusFor(caller)
      if ((await documents.get(id)).file) {
        const { name, mediaType, size, pieces } = await files.read(id)
        const headers = { ...attachment(name, mediaType), 'content-length': size }
        return reply.headers(headers).send(Readable.from(pieces))
      }
      const { size, read } = await documents.openText(id, {}, callSignal(reply))
      const headers = {
        ...attachment(`${id}.txt`, 'text/plain; charset=utf-8'),
        'content-length': size,
      }
      return reply.headers(headers).send(Readable.from(read(0, size)))
    },
  })
  app.delete('/v1/files/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteFile',
      summary: 'Delete a document',
      description: 'Deletes the document, with its passages and its original file.',
      params: DocumentParams,
      response: { 200: Removed.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id }, caller }) => {
      await corpusFor(caller).documents.remove(id)
      return { id, object: 'file', deleted: true as const }
    },
  })
}

const storeRoutes: FastifyPluginAsyncZod<Plugged> = async (app, { fileSearch }) => {
  app.get('/v1/vector_stores', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listVectorStores',
      summary: 'List vector stores',
      description:
        '`corpus` holds every document; each collection is a store with the id `vs_<collection>`.',
      querystring: VectorStoreListQuery,
      response: {
        200: VectorStoreList.describe('The whole corpus first, then each collection.'),
        ...errorResponses(),
      },
    },
    handler: ({ query, caller }, reply) => fileSearch(caller).stores.list(query, callSignal(reply)),
  })
  app.post('/v1/vector_stores', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'createVectorStore',
      summary: 'Create a vector store',
      description:
        'A vector store is a collection; add documents to it as its files. With a name that cannot be that of a collection, or none, it gets a new one.',
      body: NewVectorStore,
      response: { 200: VectorStore.describe('The store.'), ...errorResponses(404) },
    },
    handler: ({ body, caller }, reply) => fileSearch(caller).stores.create(body, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getVectorStore',
      summary: 'Get a vector store',
      description: 'Returns how many of the store’s documents are ready, in progress and failed.',
      params: StoreParams,
      response: { 200: VectorStore.describe('The store.'), ...errorResponses() },
    },
    handler: ({ params, caller }, reply) =>
      fileSearch(caller).stores.read(params.store, callSignal(reply)),
  })
  app.post('/v1/vector_stores/:store', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'updateVectorStore',
      summary: 'Rename a vector store',
      description:
        'Changes only the name that clients see: the store keeps its id, its collection and its documents.',
      params: StoreParams,
      body: VectorStoreUpdate,
      response: { 200: VectorStore.describe('The store.'), ...errorResponses(404) },
    },
    handler: ({ params, body, caller }, reply) =>
      fileSearch(caller).stores.rename(params.store, body, callSignal(reply)),
  })
  app.delete('/v1/vector_stores/:store', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteVectorStore',
      summary: 'Delete a vector store',
      description:
        'Removes all documents from the collection; they stay in the corpus. `corpus` and `vs_default` cannot be deleted.',
      params: StoreParams,
      response: { 200: Removed.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) =>
      fileSearch(caller).stores.remove(params.store, callSignal(reply)),
  })
  app.post('/v1/vector_stores/:store/search', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'searchVectorStore',
      summary: 'Search a vector store',
      description: 'Same as `POST /query`, limited to the collection.',
      params: StoreParams,
      body: StoreSearch,
      response: {
        200: StoreSearchResults.describe('The passages, best first.'),
        ...errorResponses(),
      },
    },
    handler: ({ params, body, caller }, reply) =>
      fileSearch(caller).stores.search(params.store, body, callSignal(reply)),
  })
}

const storeFileRoutes: FastifyPluginAsyncZod<Plugged> = async (app, { fileSearch }) => {
  app.post('/v1/vector_stores/:store/files', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'attachFile',
      summary: 'Add a file to a vector store',
      description: 'The document moves from its current collection. Attributes become metadata.',
      params: StoreParams,
      body: StoreFileInput,
      response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
    },
    handler: ({ params, body, caller }, reply) =>
      fileSearch(caller).files.attach(params.store, body, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store/files', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listAttachedFiles',
      summary: 'List the files of a vector store',
      description: 'Returns the documents of a collection, page by page.',
      params: StoreParams,
      querystring: StoreFileListQuery,
      response: { 200: StoreFileList.describe('A page of files.'), ...errorResponses(404) },
    },
    handler: ({ params, query, caller }, reply) =>
      fileSearch(caller).files.listStoreFiles(params.store, query, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store/files/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getAttachedFile',
      summary: 'Get a file’s ingestion status',
      description:
        'Returns `in_progress`, `completed`, `failed` or `cancelled`, with the error if there is one. Poll it until the file is ready.',
      params: StoreFileParams,
      response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
    },
    handler: async ({ params, caller }, reply) => {
      const file = await fileSearch(caller).files.readFile(params.store, params.id)
      sayWhenToPoll(reply, file)
      return file
    },
  })
  app.post('/v1/vector_stores/:store/files/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'updateAttachedFile',
      summary: 'Change a file’s attributes',
      description:
        'Adds the attributes to the metadata of the document, or replaces those of the same names.',
      params: StoreFileParams,
      body: StoreFileUpdate,
      response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
    },
    handler: ({ params: { store, id }, body, caller }, reply) =>
      fileSearch(caller).files.update(store, id, body.attributes, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store/files/:id/content', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'getAttachedFileContent',
      summary: 'Get a file’s text',
      description: 'Returns the extracted text in pages of up to a million characters.',
      params: StoreFileParams,
      querystring: StoreFileContentQuery,
      response: { 200: StoreFileContent.describe('A page of the text.'), ...errorResponses(404) },
    },
    handler: ({ params: { store, id }, query, caller }, reply) =>
      fileSearch(caller).files.content(store, id, query.page, callSignal(reply)),
  })
  app.delete('/v1/vector_stores/:store/files/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'detachFile',
      summary: 'Remove a file from a vector store',
      description: 'The document leaves the collection and stays in the corpus.',
      params: StoreFileParams,
      response: { 200: Removed.describe('The file was removed.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) =>
      fileSearch(caller).files.detach(params.store, params.id, callSignal(reply)),
  })
}
