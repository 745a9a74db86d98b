import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { attachment } from '../http/content-types.ts'
import { ArtifactParams } from '../schemas/artifact.ts'
import { errorResponses } from '../schemas/error.ts'
import { FILE_CONTENT } from '../schemas/fields.ts'
import type { ArtifactReader } from '../services/tools/artifacts.ts'

export function artifactRoutes(store: ArtifactReader): FastifyPluginAsyncZod {
  return async (app) => {
    app.get('/artifacts/:id', {
      config: { scopes: ['chat'] },
      schema: {
        operationId: 'getArtifact',
        summary: 'Read a file that a tool made',
        description: 'Its path is the `url` of an artifact in `done` or in the `agent` field.',
        tags: ['chat'],
        params: ArtifactParams,
        response: {
          200: { description: 'The file, in its own media type.', content: FILE_CONTENT },
          ...errorResponses(404),
        },
      },
      handler: async ({ params, caller }, reply) => {
        const found = await store.read(params.id, caller.key?.id)
        if (!found)
          throw new AppError('artifact_not_found', 'There is no such artifact, or no longer')
        const { name, mediaType } = found.artifact
        return reply.headers(attachment(name, mediaType)).send(Buffer.from(found.bytes))
      },
    })
  }
}
