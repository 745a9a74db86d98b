import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/call-signal.ts'
import { acceptNdjson, answerLines, isNdjson } from '../http/ndjson.ts'
import { NDJSON } from '../http/streamed-body.ts'
import { DocumentBatch, DocumentBatchResult } from '../schemas/document-batch.ts'
import { DocumentLine, LineResult } from '../schemas/document-lines.ts'
import { errorResponses } from '../schemas/error.ts'
import type { Admission } from '../services/ingestion/admission.ts'
import type { Documents } from '../services/ingestion/create-documents.ts'
import type { LineIngestion } from '../services/ingestion/ingest-lines.ts'
import { admit } from './admit.ts'

export interface BatchServices {
  documents: Documents
  lines: LineIngestion
  admission: Admission
}

const DESCRIPTION = `As \`application/json\` it takes a list, and answers once what could be stored is durable. A document out of its bounds refuses the whole batch, naming its place; one that finds the queue or the disk full fails alone.

As \`${NDJSON}\` it takes a stream of documents, one per line, of any length, and answers a stream of results, one per line, each as soon as its document is durable. A line out of its bounds fails alone. While the queue is full the stream waits; a line that waits too long answers \`queue_full\`: send it again later. Who breaks off keeps what was answered.`

export function batchRoutes(
  { documents, lines, admission }: BatchServices,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  const admitBatch = admit(admission)
  return async (app) => {
    acceptNdjson(app)
    app.post(
      '/documents/batch',
      {
        config: { alsoTakes: { [NDJSON]: DocumentLine } },
        // A stream of lines waits for room instead.
        onRequest: async (request) => (isNdjson(request) ? undefined : admitBatch(request)),
        schema: {
          operationId: 'createDocuments',
          summary: 'Ingest many new documents at once',
          description: DESCRIPTION,
          tags: ['knowledge'],
          body: DocumentBatch,
          response: {
            200: {
              description: 'To a stream: what became of each line.',
              content: { [NDJSON]: { schema: LineResult } },
            },
            202: DocumentBatchResult.describe(
              'To a list: what became of each; at least one is stored.',
            ),
            ...errorResponses(429, 507),
          },
        },
        // Before the body is taken for a list.
        preValidation: async (request, reply) => {
          if (!isNdjson(request)) return
          const signal = callSignal(reply, stopping)
          return answerLines(request, reply, (source, answer) => lines.run(source, answer, signal))
        },
      },
      async ({ body }, reply) => reply.status(202).send(await documents.createAll(body)),
    )
  }
}
