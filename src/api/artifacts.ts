import { attachment } from '@agent-server/http/download.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ArtifactLink, ArtifactParams } from '@agent-server/schemas/artifact.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { FILE_CONTENT } from '@agent-server/schemas/fields.ts'
import { ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { ArtifactLinks, ArtifactReader } from '../agent/tools/artifacts.ts'

export function artifactRoutes(
  store: ArtifactReader,
  links: Pick<ArtifactLinks, 'opens'>,
): FastifyPluginAsyncZod {
  /** Whether a signed link takes the place of a key. Throws `unauthorized` if it is wrong or too old. */
  const isLinked = ({ params, query }: FastifyRequest): boolean => {
    const { data: file } = ArtifactParams.safeParse(params)
    const { data: link } = ArtifactLink.safeParse(query)
    if (link?.signature === undefined) return false
    const { until, signature } = link
    if (file && until !== undefined && links.opens(file.id, { ...link, until, signature })) {
      return true
    }
    throw new AppError(
      'unauthorized',
      'The link is invalid or has expired. Use an API key instead.',
    )
  }

  return async (app) => {
    app.get('/artifacts/:id', {
      config: { scopes: ['chat'], isLinked },
      schema: {
        operationId: 'getArtifact',
        summary: 'Download a file created by a tool',
        description:
          'The path is the `url` of an artifact in the `done` frame or the `agent` field. Its `link` works without a key for ten minutes.',
        tags: ['chat'],
        params: ArtifactParams,
        querystring: ArtifactLink,
        response: {
          200: {
            description: 'The file, in its own media type; a script as `text/plain`.',
            content: FILE_CONTENT,
          },
          ...errorResponses(404),
        },
      },
      handler: async ({ params, caller }, reply) => {
        const file = await store.read(params.id, ownerIdOf(caller))
        if (!file)
          throw new AppError('artifact_not_found', 'The artifact does not exist or has expired')
        const { name, mediaType } = file.artifact
        // A page of another origin that has the link may show the file.
        if (!caller) reply.header('cross-origin-resource-policy', 'cross-origin')
        return reply.headers(attachment(name, mediaType)).send(Buffer.from(file.bytes))
      },
    })
  }
}
