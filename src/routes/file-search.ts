import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { acceptForms, formParts, MULTIPART } from '../http/multipart.ts'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { DocumentParams } from '../schemas/document.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  FileBatch,
  FileBatchListQuery,
  FileBatchParams,
  NewFileBatch,
} from '../schemas/openai/file-batch.ts'
import {
  FileForm,
  FileList,
  FileListQuery,
  FileObject,
  NewVectorStore,
  NotForm,
  Removed,
  StoreFile,
  StoreFileInput,
  StoreFileList,
  StoreFileListQuery,
  StoreFileParams,
  StoreParams,
  StoreSearch,
  StoreSearchResults,
  VectorStore,
  VectorStoreList,
} from '../schemas/openai/vector-store.ts'
import { admit, type UploadServices } from './document-uploads.ts'

/** Documents and collections as OpenAI's files and vector stores. */
export const fileSearchRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  groupRoutes(app, 'knowledge')
  app.register(fileRoutes, services)
  app.register(storeRoutes, services)
  app.register(storeFileRoutes, services)
  app.register(fileBatchRoutes, services)
}

const fileRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, services) => {
  const { limitedTo, maxFileBytes, admission } = services
  await acceptForms(app)
  app.post('/v1/files', {
    config: { alsoTakes: { 'multipart/form-data': FileForm }, scopes: ['ingest'] },
    schema: {
      operationId: 'createFile',
      summary: 'Upload a file as a document',
      description: 'As `POST /documents` with a form; ingestion goes on in the background.',
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
    handler: async (request) => {
      const { files, fileSearch } = limitedTo(request.caller)
      const { id } = await files.create(formParts(request, maxFileBytes))
      return fileSearch.file(id)
    },
  })
  app.get('/v1/files', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listFiles',
      summary: 'List documents as files',
      querystring: FileListQuery,
      response: { 200: FileList.describe('A page of files.'), ...errorResponses(404) },
    },
    handler: ({ query, caller }, reply) =>
      limitedTo(caller).fileSearch.listFiles(query, callSignal(reply)),
  })
  app.get('/v1/files/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getFile',
      summary: 'Read a document as a file',
      params: DocumentParams,
      response: { 200: FileObject.describe('The file.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => limitedTo(caller).fileSearch.file(params.id),
  })
  app.delete('/v1/files/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteFile',
      summary: 'Delete a document',
      params: DocumentParams,
      response: { 200: Removed.describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params: { id }, caller }) => {
      await limitedTo(caller).documents.remove(id)
      return { id, object: 'file', deleted: true as const }
    },
  })
}

const storeRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.get('/v1/vector_stores', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listVectorStores',
      summary: 'List the corpus and each collection as vector stores',
      response: { 200: VectorStoreList.describe('The corpus first.'), ...errorResponses() },
    },
    handler: ({ caller }, reply) => limitedTo(caller).fileSearch.list(callSignal(reply)),
  })
  app.post('/v1/vector_stores', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'createVectorStore',
      summary: 'Name a collection as a vector store',
      description: 'It is there as soon as it is named; documents are put into it as its files.',
      body: NewVectorStore,
      response: { 200: VectorStore.describe('The store.'), ...errorResponses(404) },
    },
    handler: ({ body, caller }, reply) =>
      limitedTo(caller).fileSearch.create(body, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getVectorStore',
      summary: 'Read a collection as a vector store',
      params: StoreParams,
      response: { 200: VectorStore.describe('The store.'), ...errorResponses() },
    },
    handler: ({ params, caller }, reply) =>
      limitedTo(caller).fileSearch.readStore(params.store, callSignal(reply)),
  })
  app.post('/v1/vector_stores/:store/search', {
    config: { scopes: ['query'] },
    schema: {
      operationId: 'searchVectorStore',
      summary: 'Retrieve passages from a vector store',
      description: 'As `POST /query`, within the collection.',
      params: StoreParams,
      body: StoreSearch,
      response: { 200: StoreSearchResults.describe('Best first.'), ...errorResponses() },
    },
    handler: ({ params, body, caller }, reply) =>
      limitedTo(caller).fileSearch.search(params.store, body, callSignal(reply)),
  })
}

const storeFileRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.post('/v1/vector_stores/:store/files', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'attachFile',
      summary: 'Put a document into a collection',
      description: 'It leaves the one it was in. Attributes become metadata.',
      params: StoreParams,
      body: StoreFileInput,
      response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
    },
    handler: ({ params, body, caller }, reply) =>
      limitedTo(caller).fileSearch.attach(params.store, body, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store/files', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listAttachedFiles',
      summary: 'List the files of a vector store',
      params: StoreParams,
      querystring: StoreFileListQuery,
      response: { 200: StoreFileList.describe('A page of files.'), ...errorResponses(404) },
    },
    handler: ({ params, query, caller }, reply) =>
      limitedTo(caller).fileSearch.listStoreFiles(params.store, query, callSignal(reply)),
  })
  app.get('/v1/vector_stores/:store/files/:id', {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getAttachedFile',
      summary: 'Read how the ingestion of a file goes',
      params: StoreFileParams,
      response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }) => limitedTo(caller).fileSearch.readFile(params.store, params.id),
  })
  app.delete('/v1/vector_stores/:store/files/:id', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'detachFile',
      summary: 'Take a document out of a collection',
      params: StoreFileParams,
      response: { 200: Removed.describe('Taken out.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) =>
      limitedTo(caller).fileSearch.detach(params.store, params.id, callSignal(reply)),
  })
}

const PATH = '/v1/vector_stores/:store/file_batches'

/** OpenAI's file batches: several files at once. */
export const fileBatchRoutes: FastifyPluginAsyncZod<UploadServices> = async (
  app,
  { limitedTo },
) => {
  app.post(PATH, {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'createFileBatch',
      summary: 'Put several documents into a collection',
      description: 'None is, where one of them does not exist. Attributes become metadata.',
      params: StoreParams,
      body: NewFileBatch,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses(404) },
    },
    handler: ({ params, body, caller }, reply) =>
      limitedTo(caller).fileSearch.batches.create(params.store, body, callSignal(reply)),
  })
  app.get(`${PATH}/:batch`, {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getFileBatch',
      summary: 'Read how the ingestion of a batch goes',
      params: FileBatchParams,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses() },
    },
    handler: ({ params: { store, batch }, caller }) =>
      limitedTo(caller).fileSearch.batches.read(store, batch),
  })
  app.get(`${PATH}/:batch/files`, {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listFileBatch',
      summary: 'List the files of a batch',
      params: FileBatchParams,
      querystring: FileBatchListQuery,
      response: { 200: StoreFileList.describe('A page of files.'), ...errorResponses() },
    },
    handler: ({ params: { store, batch }, query, caller }) =>
      limitedTo(caller).fileSearch.batches.list(store, batch, query),
  })
  app.post(`${PATH}/:batch/cancel`, {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'cancelFileBatch',
      summary: 'Take those of a batch out of the collection that are not ready yet',
      params: FileBatchParams,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses() },
    },
    handler: ({ params: { store, batch }, caller }, reply) =>
      limitedTo(caller).fileSearch.batches.cancel(store, batch, callSignal(reply)),
  })
}
