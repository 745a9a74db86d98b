import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { acceptForms, formParts, MULTIPART } from '../http/multipart.ts'
import { callSignal } from '../http/shutdown.ts'
import { DocumentParams } from '../schemas/document.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  FileForm,
  FileObject,
  NewVectorStore,
  NotForm,
  Removed,
  StoreFile,
  StoreFileInput,
  StoreFileParams,
  StoreParams,
  StoreSearch,
  StoreSearchResults,
  VectorStore,
  VectorStoreList,
} from '../schemas/vector-store.ts'
import type { Admission, Documents } from '../services/ingestion/documents.ts'
import type { Files } from '../services/ingestion/uploads.ts'
import type { FileSearch } from '../services/retrieval/file-search.ts'
import { admit } from './document-uploads.ts'

const tags = ['knowledge']

interface FileServices {
  documents: Pick<Documents, 'remove'>
  files: Files
  admission: Admission
  fileSearch: FileSearch
}

/** Documents and collections for what speaks OpenAI's files and vector stores. */
export function fileSearchRoutes(
  services: FileServices,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.register(fileRoutes(services))
    app.register(storeRoutes(services.fileSearch, stopping))
    app.register(storeFileRoutes(services.fileSearch, stopping))
  }
}

function fileRoutes({
  documents,
  files,
  admission,
  fileSearch,
}: FileServices): FastifyPluginAsyncZod {
  return async (app) => {
    await acceptForms(app)
    app.post('/v1/files', {
      config: { alsoTakes: { 'multipart/form-data': FileForm } },
      schema: {
        operationId: 'createFile',
        summary: 'Upload a file as a document',
        description: 'As `POST /documents` with a form; ingestion goes on in the background.',
        tags,
        body: NotForm,
        response: { 200: FileObject.describe('The file.'), ...errorResponses(507) },
      },
      handler: () => Promise.reject(new TypeError('No body of JSON fits')),
    })
    app.post('/v1/files', {
      constraints: MULTIPART,
      onRequest: admit(admission),
      schema: { operationId: 'createFile', hide: true, response: { 200: FileObject } },
      handler: async (request) => {
        const { id } = await files.create(formParts(request, files.maxBytes))
        return fileSearch.file(id)
      },
    })
    app.get('/v1/files/:id', {
      schema: {
        operationId: 'getFile',
        summary: 'Read a document as a file',
        tags,
        params: DocumentParams,
        response: { 200: FileObject.describe('The file.'), ...errorResponses(404) },
      },
      handler: ({ params }) => fileSearch.file(params.id),
    })
    app.delete('/v1/files/:id', {
      schema: {
        operationId: 'deleteFile',
        summary: 'Delete a document',
        tags,
        params: DocumentParams,
        response: { 200: Removed.describe('Deleted.'), ...errorResponses(404) },
      },
      handler: async ({ params: { id } }) => {
        await documents.remove(id)
        return { id, object: 'file', deleted: true as const }
      },
    })
  }
}

function storeRoutes(fileSearch: FileSearch, stopping: AbortSignal): FastifyPluginAsyncZod {
  return async (app) => {
    app.get('/v1/vector_stores', {
      schema: {
        operationId: 'listVectorStores',
        summary: 'List the corpus and each collection as vector stores',
        tags,
        response: { 200: VectorStoreList.describe('The corpus first.'), ...errorResponses() },
      },
      handler: (_request, reply) => fileSearch.list(callSignal(reply, stopping)),
    })
    app.post('/v1/vector_stores', {
      schema: {
        operationId: 'createVectorStore',
        summary: 'Name a collection as a vector store',
        description: 'It is there as soon as it is named; documents are put into it as its files.',
        tags,
        body: NewVectorStore,
        response: { 200: VectorStore.describe('The store.'), ...errorResponses(404) },
      },
      handler: ({ body }, reply) => fileSearch.create(body, callSignal(reply, stopping)),
    })
    app.get('/v1/vector_stores/:store', {
      schema: {
        operationId: 'getVectorStore',
        summary: 'Read a collection as a vector store',
        tags,
        params: StoreParams,
        response: { 200: VectorStore.describe('The store.'), ...errorResponses() },
      },
      handler: ({ params }, reply) =>
        fileSearch.readStore(params.store, callSignal(reply, stopping)),
    })
    app.post('/v1/vector_stores/:store/search', {
      schema: {
        operationId: 'searchVectorStore',
        summary: 'Retrieve passages from a vector store',
        description: 'As `POST /query`, within the collection.',
        tags,
        params: StoreParams,
        body: StoreSearch,
        response: { 200: StoreSearchResults.describe('Best first.'), ...errorResponses() },
      },
      handler: ({ params, body }, reply) =>
        fileSearch.search(params.store, body, callSignal(reply, stopping)),
    })
  }
}

function storeFileRoutes(fileSearch: FileSearch, stopping: AbortSignal): FastifyPluginAsyncZod {
  return async (app) => {
    app.post('/v1/vector_stores/:store/files', {
      schema: {
        operationId: 'attachFile',
        summary: 'Put a document into a collection',
        description: 'It leaves the one it was in. Attributes become metadata.',
        tags,
        params: StoreParams,
        body: StoreFileInput,
        response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
      },
      handler: ({ params, body }, reply) =>
        fileSearch.attach(params.store, body, callSignal(reply, stopping)),
    })
    app.get('/v1/vector_stores/:store/files/:id', {
      schema: {
        operationId: 'getAttachedFile',
        summary: 'Read how the ingestion of a file goes',
        tags,
        params: StoreFileParams,
        response: { 200: StoreFile.describe('The file in its store.'), ...errorResponses(404) },
      },
      handler: ({ params }) => fileSearch.readFile(params.store, params.id),
    })
    app.delete('/v1/vector_stores/:store/files/:id', {
      schema: {
        operationId: 'detachFile',
        summary: 'Take a document out of a collection',
        tags,
        params: StoreFileParams,
        response: { 200: Removed.describe('Taken out.'), ...errorResponses(404) },
      },
      handler: ({ params }, reply) =>
        fileSearch.detach(params.store, params.id, callSignal(reply, stopping)),
    })
  }
}
