import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, readCompletion } from '../support/chat-reader.ts'
import { readBlocks } from '../support/event-stream-reader.ts'
import { failureOf } from '../support/failure.ts'
import { long, someOf } from '../support/long.ts'
import { allRunsEnded } from '../support/metrics.ts'
import { type Reply, type Step, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, modelAt, startServer } from '../support/server.ts'
import {
  chunk,
  cutReply,
  DONE,
  errorReply,
  event,
  hangReply,
  jsonReply,
  streamReply,
  textReply,
  webPageReply,
} from '../support/upstream-replies.ts'

const messages = [{ role: 'user', content: 'Hello?' }]
const TALKATIVE = `Incorrect API key provided: ${MODEL_KEY}. Your header was Bearer ${MODEL_KEY}.`
/** How often a failure that may pass is tried in all. */
const TRIES = 3

// No connection waits for the next request: one that was found broken would be replaced, which is one try more.
const upstream = await startScriptedUpstream({ keepAliveTimeout: 1_000 })
const server = await startServer(modelAt(upstream, { CHAT_IDLE_TIMEOUT: '1' }))
await server.ingest({ text: 'Owls hoot.' })

afterEach(async () => {
  await allRunsEnded(server)
  upstream.always(textReply('Recovered.'))
  expect((await ask(server, 'Hello?')).answer).toBe('Recovered.')
})

/** How often the model is asked while `work` runs. */
async function triesDuring(work: () => Promise<unknown>): Promise<number> {
  const before = upstream.requests.length
  await work()
  return upstream.requests.length - before
}

/** What the model does before its first token, what the caller is told, and how often it is tried. */
const BEFORE: [string, Reply, number, string, number][] = [
  ['refused the key', errorReply(401, TALKATIVE), 502, 'upstream_unauthorized', 1],
  ['forbids the model', errorReply(403, TALKATIVE), 502, 'upstream_unauthorized', 1],
  ['does not have the model', errorReply(404, 'No such model'), 502, 'upstream_model_not_found', 1],
  ['has no credit left', errorReply(402, 'Pay first'), 502, 'upstream_refused', 1],
  ['does not like the request', errorReply(400, 'Bad stop word'), 502, 'upstream_refused', 1],
  [
    'receives too many requests',
    errorReply(429, 'Slow down', { 'retry-after': '30' }),
    429,
    'upstream_rate_limited',
    1,
  ],
  ['fails', errorReply(500, TALKATIVE), 502, 'upstream_failed', TRIES],
  ['is overloaded', errorReply(503, 'Later'), 502, 'upstream_failed', TRIES],
  ['fails with a web page', webPageReply(502), 502, 'upstream_failed', TRIES],
  ['is a web page', webPageReply(200), 502, 'upstream_failed', 1],
  ['is a web page that was not found', webPageReply(404), 502, 'upstream_model_not_found', 1],
  ['hangs up', cutReply(), 502, 'upstream_failed', TRIES],
  ['never answers', hangReply(), 504, 'upstream_timeout', 1],
  ['answers JSON that is no completion', jsonReply({ hello: 'world' }), 502, 'upstream_failed', 1],
  ['answers an empty stream', streamReply(), 502, 'upstream_failed', 1],
  ['answers [DONE] alone', streamReply(DONE), 502, 'upstream_failed', 1],
  ['answers what is no JSON', streamReply({ send: 'data: {oops\n\n' }), 502, 'upstream_failed', 1],
  [
    'reports an error in its stream',
    streamReply(event({ error: { message: TALKATIVE } })),
    502,
    'upstream_failed',
    TRIES,
  ],
]

describe('When the model fails before its first token', () => {
  it.each(someOf(BEFORE, 6))(
    'the answer is a status: the model %s',
    {
      ...long,
      ...verifies(
        'upstream.status',
        'upstream.retry',
        'upstream.secret',
        'upstream.idle',
        'upstream.incomplete',
      ),
    },
    async (_case, reply, status, code, tries) => {
      upstream.always(reply)
      const asked = await triesDuring(async () => {
        const response = await server.request('/chat', { body: { messages } })
        const failure = await failureOf(response)
        expect(failure).toMatchObject({ status, code, type: 'upstream_error', param: null })
        expect(JSON.stringify([failure, ...response.headers])).not.toContain(MODEL_KEY)
      })
      expect(asked).toBe(tries)
    },
  )

  it.each([true, false])(
    'a completion is that status, too, with stream: %s',
    verifies('upstream.status', 'completions.error'),
    async (stream) => {
      upstream.always(errorReply(401, TALKATIVE))
      const body = { messages, stream }
      const failure = await failureOf(await server.request('/v1/chat/completions', { body }))
      expect(failure).toMatchObject({ status: 502, code: 'upstream_unauthorized' })
    },
  )
})

const broken = (...steps: Step[]) => streamReply(chunk({ content: 'Half ' }), ...steps)

/** The same after the first token: nothing is tried again. */
const AFTER: [string, Reply, string][] = [
  ['hangs up', broken({ cut: true }), 'upstream_failed'],
  ['goes silent', broken({ hang: true }), 'upstream_timeout'],
  ['ends without a reason', broken(DONE), 'upstream_failed'],
  ['ends without [DONE] or a reason', broken(), 'upstream_failed'],
  ['ends inside a line', broken({ send: 'data: {"choices":[{"ind' }), 'upstream_failed'],
  ['sends what is no JSON', broken({ send: 'data: {oops\n\n' }), 'upstream_failed'],
  [
    'reports an error',
    broken(event({ error: { message: TALKATIVE, code: 500 } })),
    'upstream_failed',
  ],
]

describe('When the model fails after its first token', () => {
  it.each(AFTER)(
    'both streams end with an error frame: the model %s',
    verifies(
      'upstream.frame',
      'upstream.retry',
      'upstream.incomplete',
      'upstream.idle',
      'upstream.secret',
      'events.one-end',
      'completions.error',
    ),
    async (_case, reply, code) => {
      upstream.always(reply)
      const asked = await triesDuring(async () => {
        const chat = await ask(server, 'Hello?')
        expect(chat).toMatchObject({ answer: 'Half ', done: undefined, error: { code } })
        expect(chat.frames.at(-1)?.event).toBe('error')

        const response = await server.request('/v1/chat/completions', { body: { messages } })
        const completion = await readCompletion(response)
        expect(completion).toMatchObject({ answer: 'Half ', error: { code }, ended: true })
        expect(completion.finishReason).toBeUndefined()
        expect(JSON.stringify([chat, completion])).not.toContain(MODEL_KEY)
      })
      expect(asked).toBe(2)
    },
  )

  it.each(AFTER)(
    'a plain completion is a status, never half an answer: the model %s',
    verifies('upstream.status', 'upstream.incomplete'),
    async (_case, reply, code) => {
      upstream.always(reply)
      const body = { messages, stream: false }
      const failure = await failureOf(await server.request('/v1/chat/completions', { body }))
      expect(failure).toMatchObject({ code, type: 'upstream_error' })
      expect(failure.status).toBe(code === 'upstream_timeout' ? 504 : 502)
    },
  )
})

describe('A failure that passes', () => {
  it.each([
    ['a refused connection', cutReply()],
    ['a failure', errorReply(500, 'Oops')],
    ['a short wait', errorReply(429, 'Slow down', { 'retry-after': '0' })],
  ])('is not seen: %s', verifies('upstream.retry'), async (_case, reply) => {
    upstream.script(reply)
    upstream.always(textReply('Second try.'))
    expect((await ask(server, 'Hello?')).answer).toBe('Second try.')
  })
})

describe('A stream that ends with a reason but without [DONE]', () => {
  it('is a whole answer', verifies('upstream.incomplete'), async () => {
    upstream.always(streamReply(chunk({ content: 'Whole.' }), chunk({}, 'stop')))
    expect(await ask(server, 'Hello?')).toMatchObject({
      answer: 'Whole.',
      done: { finishReason: 'stop' },
    })
  })
})

describe('A model that pauses for less than the idle time', () => {
  it('is waited for, however long the answer takes', verifies('upstream.idle'), async () => {
    const steps = ['One ', 'two ', 'three.'].flatMap((content) => [
      { pauseMs: 500 },
      chunk({ content }),
    ])
    upstream.always(streamReply(...steps, chunk({}, 'stop'), DONE))
    expect((await ask(server, 'Hello?')).answer).toBe('One two three.')
  })
})

describe('A model that thinks for long before its first token', () => {
  it(
    'leaves the stream open with a comment line, and a failure is a frame from then on',
    verifies('chat.keep-alive', 'upstream.frame'),
    async () => {
      const patient = await startServer(modelAt(upstream, { CHAT_IDLE_TIMEOUT: '60' }))
      const end = Promise.withResolvers<void>()
      upstream.always({ steps: [{ until: end.promise }, { cut: true }] })
      const response = await patient.request('/chat', { body: { messages } })
      expect(response.status).toBe(200)
      const blocks = readBlocks(response)
      expect((await blocks.next()).value).toEqual({ event: 'comment', data: 'keep-alive' })
      upstream.always(errorReply(401, 'Who are you?'))
      end.resolve()
      const rest = await Array.fromAsync(blocks)
      expect(rest.map(({ event: name }) => name)).toEqual(['error'])
      expect(rest[0]?.data).toContain('"code":"upstream_unauthorized"')
    },
  )
})

describe('A model that cannot be reached', () => {
  it('is told as such', verifies('upstream.status'), async () => {
    const gone = await startScriptedUpstream()
    await gone.close()
    const lonely = await startServer(modelAt(gone))
    const failure = await failureOf(await lonely.request('/chat', { body: { messages } }))
    expect(failure).toMatchObject({ status: 502, code: 'upstream_failed' })
    expect(failure.message).toMatch(/CHAT_BASE_URL/)
    expect(failure.message).not.toContain('127.0.0.1')
  })
})
