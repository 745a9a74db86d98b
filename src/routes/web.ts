import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { NDJSON } from '../http/content-types.ts'
import { type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { callSignal } from '../http/shutdown.ts'
import { Document, DocumentParams } from '../schemas/document.ts'
import { SiteInput, SiteLine } from '../schemas/document-batch.ts'
import { errorResponses } from '../schemas/error.ts'
import type { UploadServices } from './document-uploads.ts'

const LINES: FrameFormat<SiteLine> = {
  encode: (line) => `${JSON.stringify(line)}\n`,
  encodeError: (body) => `${JSON.stringify(body)}\n`,
  end: '',
  kind: { mediaType: NDJSON, keepAlive: '\n' },
}

/** Documents that are fetched from the web, after the first time. */
export const webRoutes: FastifyPluginAsyncZod<UploadServices> = async (app, { limitedTo }) => {
  app.post('/documents/:id/refresh', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'refreshDocument',
      summary: 'Fetch a document again from its web address',
      description:
        'What has not changed is not ingested again: `revision` stays. What cannot be had answers `fetch_failed` and leaves the document as it was; `source` tells it, too.',
      params: DocumentParams,
      response: {
        200: Document.describe('The document.'),
        ...errorResponses(404, 409, 502, 507),
      },
    },
    handler: ({ params, caller }, reply) =>
      limitedTo(caller).pages.refresh(params.id, callSignal(reply)),
  })

  app.post('/documents/sitemap', {
    config: { scopes: ['ingest'] },
    schema: {
      operationId: 'addSite',
      summary: 'Ingest the pages that a sitemap names',
      description:
        'Each page of the sitemap’s own host becomes a document. Answers a line for each as it is stored; who breaks off keeps what was answered. Sent again it fetches the pages again, and adds new ones.',
      body: SiteInput,
      response: {
        200: {
          description: 'What became of each page.',
          content: { [NDJSON]: { schema: SiteLine } },
        },
        ...errorResponses(502),
      },
    },
    handler: async ({ body, caller }, reply) => {
      const signal = callSignal(reply)
      sendEvents(reply, limitedTo(caller).pages.addSite(body, signal), LINES)
      return reply
    },
  })
}
