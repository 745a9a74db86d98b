import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { attachment } from '../http/attachment.ts'
import { formParts } from '../http/form-parts.ts'
import { MULTIPART } from '../http/form-routing.ts'
import {
  ChosenParams,
  DocumentCreated,
  DocumentParams,
  IdempotencyHeaders,
  WaitQuery,
} from '../schemas/document.ts'
import { errorResponses } from '../schemas/error.ts'
import type { Admission } from '../services/ingestion/admission.ts'
import type { Files } from '../services/ingestion/create-files.ts'
import { admit } from './admit.ts'

const ANY_MEDIA_TYPE = { '*/*': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) } }

type Answer = (
  reply: FastifyReply,
  created: DocumentCreated,
  seconds: number,
) => Promise<FastifyReply>

const response = { 200: DocumentCreated, 202: DocumentCreated }

/** The forms of what `POST /documents` and `PUT /documents/{id}` take as JSON; the contract shows both as one. */
export function documentFileRoutes(
  files: Files,
  admission: Admission,
  answer: Answer,
): FastifyPluginAsyncZod {
  return async (app) => {
    // The bytes are read by the handler, as they come.
    app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))

    app.post(
      '/documents',
      {
        constraints: MULTIPART,
        onRequest: admit(admission),
        schema: {
          ...{ operationId: 'createDocument', hide: true },
          headers: IdempotencyHeaders,
          querystring: WaitQuery,
          response,
        },
      },
      async ({ raw, headers, query }, reply) => {
        const parts = formParts(raw, files.mostBytes)
        return answer(reply, await files.create(parts, headers['idempotency-key']), query.wait)
      },
    )

    app.put(
      '/documents/:id',
      {
        constraints: MULTIPART,
        onRequest: admit(admission),
        schema: {
          ...{ operationId: 'putDocument', hide: true },
          params: ChosenParams,
          querystring: WaitQuery,
          response,
        },
      },
      async ({ raw, params, query }, reply) =>
        answer(reply, await files.put(params.id, formParts(raw, files.mostBytes)), query.wait),
    )

    app.get(
      '/documents/:id/file',
      {
        schema: {
          operationId: 'getDocumentFile',
          summary: 'Download the file that a document was sent as',
          description: 'The one that queries find; before the document is first ready, the newest.',
          tags: ['knowledge'],
          params: DocumentParams,
          response: {
            200: { description: 'The file, byte for byte.', content: ANY_MEDIA_TYPE },
            ...errorResponses(404),
          },
        },
      },
      async ({ params }, reply) => {
        const { name, mediaType, size, pieces } = await files.read(params.id)
        return reply
          .headers({ ...attachment(name, mediaType), 'content-length': size })
          .send(Readable.from(pieces))
      },
    )
  }
}
