import { objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import type { ServerSentEvent } from '@anthropic-ai/sdk/core/streaming'
import { answerFetch, baseOf, libraryOptions, onePerServer } from '../upstream/connection.ts'
import { unreadable } from '../upstream/failures.ts'
import type { Protocol } from '../upstream/protocol.ts'
import { createAnswerReader } from './answer-reader.ts'
import { FALLBACKS } from './fallbacks.ts'
import { type MessagesBody, toRequestBody } from './request-body.ts'

const clientOf = onePerServer(async (server) => {
  const { Anthropic } = await import('@anthropic-ai/sdk')
  const { Stream } = await import('@anthropic-ai/sdk/core/streaming')
  const client = new Anthropic({
    ...libraryOptions(server),
    authToken: null,
    webhookKey: null,
    // Its requests are in spans of ours.
    openTelemetry: false,
    baseURL: baseOf(server).replace(/\/v1$/, ''),
  })
  return { client, eventsOf: Stream.rawEvents }
})

/** Anthropic's Messages, which gateways to Claude speak, too, and servers of other models beside chat completions. */
export const messages: Protocol<MessagesBody> = {
  api: 'messages',
  path: '/messages',
  toBody: toRequestBody,
  async connect(server) {
    const { client, eventsOf } = await clientOf(server)
    return {
      async send(body, call) {
        const { signal } = call
        // What `messages.create` does, but it writes to the console about models that will be retired.
        const answer = client
          .withOptions({ fetch: answerFetch(server, call) })
          .post('/v1/messages', { body, signal, stream: true })
        // Its own stream omits events that have no name.
        return parsed(eventsOf(await answer.asResponse()))
      },
    }
  },
  createReader: createAnswerReader,
  fallbacks: FALLBACKS,
  optional: new Set([
    'temperature',
    'top_p',
    'stop_sequences',
    'tool_choice',
    'output_config',
    'output_config.effort',
    'thinking',
    'thinking.display',
  ]),
}

async function* parsed(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<unknown> {
  for await (const { event, data } of events) {
    if (data === '[DONE]') return
    const value = data === '' ? {} : parseJson(data)
    if (value === undefined) throw unreadable(`an event that is not JSON: ${data.slice(0, 200)}`)
    yield event === 'error' ? { type: 'error', error: objectOf(value).error ?? value } : value
  }
}
