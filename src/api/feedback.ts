import { sendEvents } from '@agent-server/http/event-stream.ts'
import { lineFormat } from '@agent-server/http/ndjson.ts'
import { groupRoutes } from '@agent-server/http/reference.ts'
import { NDJSON } from '@agent-server/http/request-body.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  Feedback,
  FeedbackExportQuery,
  FeedbackList,
  FeedbackListQuery,
  FeedbackParams,
  NewFeedback,
} from '@agent-server/schemas/feedback.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FeedbackService } from '../conversations/feedback.ts'

export const feedbackRoutes: FastifyPluginAsyncZod<{ feedback: FeedbackService }> = async (
  app,
  { feedback },
) => {
  groupRoutes(app, 'chat', ['chat'])

  app.post('/feedback', {
    schema: {
      operationId: 'giveFeedback',
      summary: 'Rate an answer',
      description:
        'Rates an answer of a conversation or a stored response, with a comment if there is one. Rating the same answer again replaces the feedback. Feedback belongs to the key, as conversations do, and is deleted with its answer; a key keeps the last 10,000.',
      body: NewFeedback,
      response: { 200: Feedback.describe('The feedback.'), ...errorResponses(404, 507) },
    },
    handler: ({ body, caller }) => feedback.rate(body, caller),
  })

  app.get('/feedback', {
    schema: {
      operationId: 'listFeedback',
      summary: 'List feedback',
      description: 'Returns each rating with its question, its answer and the documents cited.',
      querystring: FeedbackListQuery,
      response: { 200: FeedbackList.describe('A page of feedback.'), ...errorResponses() },
    },
    handler: ({ query, caller }) => feedback.list(query, caller),
  })

  app.get('/feedback/export', {
    schema: {
      operationId: 'exportFeedback',
      summary: 'Export all feedback',
      description:
        'Returns one `Feedback` per line, newest first. If the export fails midway, the last line is an `Error`.',
      querystring: FeedbackExportQuery,
      response: {
        200: {
          description: 'The feedback.',
          content: { [NDJSON]: { schema: Feedback } },
        },
        ...errorResponses(),
      },
    },
    handler: ({ query, caller }, reply) =>
      sendEvents(reply, feedback.export(query, caller, callSignal(reply)), lineFormat()),
  })

  app.delete('/feedback/:id', {
    schema: {
      operationId: 'deleteFeedback',
      summary: 'Delete feedback',
      description: 'Deletes one rating. The answer that it rates stays.',
      params: FeedbackParams,
      response: { 204: z.undefined().describe('Deleted.'), ...errorResponses(404) },
    },
    handler: async ({ params, caller }, reply) => {
      await feedback.remove(params.id, caller)
      return reply.status(204).send()
    },
  })
}
