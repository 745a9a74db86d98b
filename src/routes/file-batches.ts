import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  FileBatch,
  FileBatchListQuery,
  FileBatchParams,
  NewFileBatch,
} from '../schemas/openai/file-batch.ts'
import { StoreFileList, StoreParams } from '../schemas/openai/vector-store.ts'
import type { UploadServices } from './document-uploads.ts'

const PATH = '/v1/vector_stores/:store/file_batches'

/** Several files at once for what speaks OpenAI's vector stores. */
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
