import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { errorResponses } from '../schemas/error.ts'
import { ApiKeyCreated, ApiKeyList, ApiKeyParams, NewApiKey } from '../schemas/operator/api-key.ts'
import type { Keys } from '../services/keys/keys.ts'

export const apiKeyRoutes: FastifyPluginAsyncZod<{ keys: Keys }> = async (app, { keys }) => {
  app.get('/admin/keys', {
    schema: {
      operationId: 'listApiKeys',
      summary: 'List the keys beside the SERVER_API_KEY',
      description: 'With what each may do and when it was used last; never the key itself.',
      response: { 200: ApiKeyList.describe('The oldest first.'), ...errorResponses() },
    },
    handler: async () => ({ keys: await keys.list() }),
  })

  app.post('/admin/keys', {
    schema: {
      operationId: 'createApiKey',
      summary: 'Make a key that may less than the SERVER_API_KEY',
      description:
        'Shown in this answer and never again. A key with `admin` makes narrower ones alone: without `admin`, within its own scopes, limits and time; they go with it when it is revoked.',
      body: NewApiKey,
      response: { 201: ApiKeyCreated.describe('The key.'), ...errorResponses(409) },
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(201).send(await keys.create(body, caller)),
  })

  app.delete('/admin/keys/:id', {
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke a key, and those that it made',
      description:
        'The very next request is refused; other servers on the same database refuse it within two seconds.',
      params: ApiKeyParams,
      response: { 204: z.undefined().describe('Revoked.'), ...errorResponses(404) },
    },
    handler: async ({ params, caller }, reply) => {
      await keys.revoke(params.id, caller)
      return reply.status(204).send()
    },
  })
}
