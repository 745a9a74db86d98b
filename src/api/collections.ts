import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import {
  Collection,
  CollectionList,
  CollectionParams,
  CollectionPatch,
  NewCollection,
} from '@agent-server/schemas/collection.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CorpusFor } from '../documents/corpus-access.ts'

/** Collections, and who may do what in them. */
export const collectionRoutes: FastifyPluginAsyncZod<{ corpusFor: CorpusFor }> = async (
  app,
  { corpusFor },
) => {
  groupRoutes(app, 'knowledge')

  app.get('/collections', {
    config: { scopes: ['query', 'chat', 'ingest'] },
    schema: {
      operationId: 'listCollections',
      summary: 'List collections',
      description:
        'Returns the collections that you may see, with the number of documents in each that you may read.',
      response: { 200: CollectionList.describe('The collections.'), ...errorResponses() },
    },
    handler: ({ caller }, reply) => corpusFor(caller).shared.list(callSignal(reply)),
  })

  app.post('/collections', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'createCollection',
      summary: 'Create a collection that people share',
      description:
        'Whoever creates it owns it. A name is taken, too, if documents are in a collection of that name.',
      body: NewCollection,
      response: { 201: Collection.describe('The collection.'), ...errorResponses(409) },
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(201).send(await corpusFor(caller).shared.create(body, callSignal(reply))),
  })

  app.get('/collections/:name', {
    config: { scopes: ['query', 'chat', 'ingest'] },
    schema: {
      operationId: 'getCollection',
      summary: 'Get a collection',
      description: 'Returns one of the collections that you may see.',
      params: CollectionParams,
      response: { 200: Collection.describe('The collection.'), ...errorResponses(404) },
    },
    handler: ({ params, caller }, reply) =>
      corpusFor(caller).shared.get(params.name, callSignal(reply)),
  })

  app.patch('/collections/:name', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'patchCollection',
      summary: 'Change who may do what in a collection',
      description:
        'Each list that you send replaces the present one; the very next request goes by it. Only for owners of the collection, administrators and API keys with `admin`; others may open one that exists by its documents alone.',
      params: CollectionParams,
      body: CollectionPatch,
      response: { 200: Collection.describe('The collection.'), ...errorResponses(404, 409) },
    },
    handler: ({ params, body, caller }, reply) =>
      corpusFor(caller).shared.patch(params.name, body, callSignal(reply)),
  })

  app.delete('/collections/:name', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'deleteCollection',
      summary: 'Delete an empty collection',
      description:
        'A collection in which you can read documents is refused. Documents that others keep to themselves stay theirs.',
      params: CollectionParams,
      response: {
        204: z.undefined().describe('Deleted.'),
        ...errorResponses(404, 409),
      },
    },
    handler: async ({ params, caller }, reply) => {
      await corpusFor(caller).shared.remove(params.name, callSignal(reply))
      return reply.status(204).send()
    },
  })
}
