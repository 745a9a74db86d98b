import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { attachment } from '../http/download.ts'
import { ArtifactLink, ArtifactParams } from '../schemas/artifact.ts'
import { errorResponses } from '../schemas/error.ts'
import { FILE_CONTENT } from '../schemas/fields.ts'
import type { ArtifactLinks, ArtifactReader } from '../services/tools/artifacts.ts'

export function artifactRoutes(
  store: ArtifactReader,
  links: Pick<ArtifactLinks, 'opens'>,
): FastifyPluginAsyncZod {
  /** Whether a signed link takes the place of a key. Throws `unauthorized` if it is wrong or too old. */
  const isLinked = ({ params, query }: FastifyRequest): boolean => {
    const { data: file } = ArtifactParams.safeParse(params)
    const { data: { until, signature } = {} } = ArtifactLink.safeParse(query)
    if (signature === undefined) return false
    if (file && until !== undefined && links.opens(file.id, { until, signature })) return true
    throw new AppError('unauthorized', 'The link is wrong or older than an hour: use the key')
  }

  return async (app) => {
    app.get('/artifacts/:id', {
      config: { scopes: ['chat'], isLinked },
      schema: {
        operationId: 'getArtifact',
        summary: 'Read a file that a tool made',
        description:
          'Its path is the `url` of an artifact in `done` or in the `agent` field; its `link` needs no key.',
        tags: ['chat'],
        params: ArtifactParams,
        querystring: ArtifactLink,
        response: {
          200: { description: 'The file, in its own media type.', content: FILE_CONTENT },
          ...errorResponses(404),
        },
      },
      handler: async ({ params, caller }, reply) => {
        const found = await store.read(params.id, caller?.key?.id)
        if (!found)
          throw new AppError('artifact_not_found', 'There is no such artifact, or no longer')
        const { name, mediaType } = found.artifact
        // A page of another origin that has the link may show the file.
        if (!caller) reply.header('cross-origin-resource-policy', 'cross-origin')
        return reply.headers(attachment(name, mediaType)).send(Buffer.from(found.bytes))
      },
    })
  }
}
