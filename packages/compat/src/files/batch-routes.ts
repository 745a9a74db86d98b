import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { FileBatch, FileBatchListQuery, FileBatchParams, NewFileBatch } from './batch-schema.ts'
import { type Plugged, sayWhenToPoll } from './file-search.ts'
import { StoreFileList, StoreParams } from './schema.ts'

const PATH = '/v1/vector_stores/:store/file_batches'

/** OpenAI's file batches: several files at once. */
export const fileBatchRoutes: FastifyPluginAsyncZod<Plugged> = async (app, { fileSearch }) => {
  app.post(PATH, {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'createFileBatch',
      summary: 'Add several files to a vector store',
      description:
        'If one of the documents does not exist, none is added. Attributes become metadata.',
      params: StoreParams,
      body: NewFileBatch,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses(404, 507) },
    },
    handler: ({ params, body, caller }, reply) =>
      fileSearch(caller).batches.create(params.store, body, callSignal(reply)),
  })
  app.get(`${PATH}/:batch`, {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'getFileBatch',
      summary: 'Get a batch’s ingestion status',
      description: 'Counts the files of the batch by state. A batch is kept for 30 days.',
      params: FileBatchParams,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses(404) },
    },
    handler: async ({ params: { store, batch }, caller }, reply) => {
      const status = await fileSearch(caller).batches.read(store, batch)
      sayWhenToPoll(reply, status)
      return status
    },
  })
  app.get(`${PATH}/:batch/files`, {
    config: { scopes: ['query', 'ingest'] },
    schema: {
      operationId: 'listFileBatch',
      summary: 'List the files of a batch',
      description: 'Returns the files of a batch, page by page.',
      params: FileBatchParams,
      querystring: FileBatchListQuery,
      response: { 200: StoreFileList.describe('A page of files.'), ...errorResponses(404) },
    },
    handler: ({ params: { store, batch }, query, caller }) =>
      fileSearch(caller).batches.list(store, batch, query),
  })
  app.post(`${PATH}/:batch/cancel`, {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'cancelFileBatch',
      summary: 'Cancel a batch',
      description:
        'Removes files that are not ready yet from the vector store; their documents stay.',
      params: FileBatchParams,
      response: { 200: FileBatch.describe('The batch.'), ...errorResponses(404) },
    },
    handler: ({ params: { store, batch }, caller }, reply) =>
      fileSearch(caller).batches.cancel(store, batch, callSignal(reply)),
  })
}
