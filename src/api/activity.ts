import { type FrameFormat, sendEvents } from '@agent-server/http/event-stream.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import {
  type ActivityEvent,
  ActivityFrame,
  ActivityQuery,
} from '@agent-server/schemas/operator/ops.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { Activity } from '../operator/ops/activity.ts'

const FRAMES: FrameFormat<ActivityEvent> = {
  encode: (event) => `data: ${JSON.stringify(event)}\n\n`,
  encodeError: ({ error }) => `data: ${JSON.stringify({ type: 'error', error })}\n\n`,
  end: '',
}

/** Passes events on until the caller's key is revoked or expires; then throws `unauthorized`. */
async function* whileValid(events: AsyncIterable<ActivityEvent[]>, caller: Caller) {
  for await (const batch of events) {
    await caller.verify()
    yield batch
  }
}

/** What the server has done lately, and what it is doing. */
interface Services {
  activity: Pick<Activity, 'events'>
}

export const activityRoutes: FastifyPluginAsyncZod<Services> = async (app, { activity }) => {
  // A client that only watches must not delay the shutdown.
  const closing = new AbortController()
  app.addHook('preClose', async () => {
    closing.abort(new AppError('shutting_down', 'The server is shutting down'))
  })

  app.get('/admin/events', {
    config: { takesLong: true },
    schema: {
      operationId: 'followEvents',
      summary: 'Stream this server’s log, requests and runs',
      description:
        'Unnamed server-sent events: first the recent history (the last 1,000 successful requests, the last 1,000 other log lines, with separate events for runs and failed requests, and one metrics sample for every ten seconds of the last hour), then new events as they happen. See `ActivityFrame`; clients should ignore types they do not know. At most 16 clients can follow at once.',
      querystring: ActivityQuery,
      response: {
        200: {
          description: 'The events.',
          content: { 'text/event-stream': { schema: ActivityFrame } },
        },
        ...errorResponses(429),
      },
    },
    handler: ({ query, caller }, reply) => {
      const events = activity.events(query, shareOf(caller), callSignal(reply, closing.signal))
      return sendEvents(reply, whileValid(events, caller), FRAMES)
    },
  })
}
