import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { type FrameFormat, sendEvents } from '../http/event-stream.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import type { Caller } from '../schemas/operator/api-key.ts'
import { type ActivityEvent, ActivityFrame, ActivityQuery } from '../schemas/operator/ops.ts'
import type { Activity } from '../services/ops/activity.ts'

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
    schema: {
      operationId: 'followEvents',
      summary: 'Follow the log, the requests and the runs of this server',
      description:
        'Server-sent events, without names: first what is kept (the last 1,000 lines of the log, of which requests and runs have events of their own, and a sample of the metrics for every ten seconds of the last hour), then what happens. See `ActivityFrame`; leave room for further types. At most 16 follow at once.',
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
      const events = activity.events(query, callSignal(reply, closing.signal))
      return sendEvents(reply, whileValid(events, caller), FRAMES)
    },
  })
}
