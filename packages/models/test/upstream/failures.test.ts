import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import type { Script } from '../../../../test/support/scripted-upstream.ts'
import {
  chunk,
  cutReply,
  DONE,
  errorReply,
  event,
  jsonReply,
  rawReply,
  streamReply,
  textReply,
  webPageReply,
} from '../../../../test/support/upstream-replies.ts'
import { API_KEY, question, readAnswer, startModel } from './model-for-test.ts'

const NOW = { 'retry-after-ms': '1' }
const FINAL = { 'x-should-retry': 'false' }

describe('refusals of the upstream', () => {
  it.each<[string, Script, { code: string; message: unknown; retryAfter?: number }]>([
    [
      'a wrong key',
      errorReply(401, `Incorrect API key provided: ${API_KEY}`),
      { code: 'upstream_unauthorized', message: expect.stringContaining('check CHAT_API_KEY') },
    ],
    [
      'a key without access',
      errorReply(403, 'Project has no access'),
      { code: 'upstream_unauthorized', message: expect.stringContaining('"test-model"') },
    ],
    [
      'an unknown model',
      errorReply(404, 'The model does not exist'),
      {
        code: 'upstream_model_not_found',
        message: expect.stringMatching(/"test-model".*CHAT_MODEL.*CHAT_BASE_URL/),
      },
    ],
    [
      'an unknown model, told with status 400',
      errorReply(400, { message: 'no such model', code: 'model_not_found' }),
      { code: 'upstream_model_not_found', message: expect.stringContaining('"test-model"') },
    ],
    [
      'a wrong path that LM Studio answers with status 200',
      jsonReply({ error: 'Unexpected endpoint or method. (POST /chat/completions)' }),
      { code: 'upstream_model_not_found', message: expect.stringContaining('CHAT_BASE_URL') },
    ],
    [
      'an invalid request',
      errorReply(400, "Invalid 'temperature': must be at most 2."),
      {
        code: 'upstream_refused',
        message: "The chat model refused the request: Invalid 'temperature': must be at most 2.",
      },
    ],
    [
      'an invalid request in the shape of FastAPI',
      jsonReply(
        {
          detail: [
            { loc: ['body', 'seed'], msg: 'Input should be an integer', input: 'SYSTEM PROMPT' },
          ],
        },
        422,
      ),
      {
        code: 'upstream_refused',
        message: 'The chat model refused the request: Input should be an integer',
      },
    ],
    [
      'an invalid request in a list of one, as Gemini answers',
      jsonReply(
        [{ error: { code: 400, message: 'Unknown name "foo"', status: 'INVALID_ARGUMENT' } }],
        400,
      ),
      {
        code: 'upstream_refused',
        message: 'The chat model refused the request: Unknown name "foo"',
      },
    ],
    [
      'an invalid request without a word',
      { status: 400, headers: {}, steps: [] },
      { code: 'upstream_refused', message: 'The chat model refused the request' },
    ],
    [
      'a prompt too long, as OpenAI says it',
      errorReply(400, {
        message: "This model's maximum context length is 8192 tokens.",
        code: 'context_length_exceeded',
      }),
      {
        code: 'context_length_exceeded',
        message:
          'The question is longer than the chat model can read: shorten it, or add its text as a document',
      },
    ],
    [
      'a prompt too long, as llama.cpp says it with status 500',
      errorReply(500, {
        code: 500,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      }),
      {
        code: 'context_length_exceeded',
        message:
          'The question is longer than the chat model can read: shorten it, or add its text as a document',
      },
    ],
    [
      'an empty account',
      errorReply(402, 'Insufficient Balance'),
      { code: 'upstream_refused', message: expect.stringContaining('no credit or quota') },
    ],
    [
      'a spent quota, told with status 429',
      errorReply(429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }),
      { code: 'upstream_refused', message: expect.stringContaining('no credit or quota') },
    ],
    [
      'a rate limit with a long wait',
      errorReply(429, 'slow down', { 'retry-after': '17' }),
      {
        code: 'upstream_rate_limited',
        message: expect.stringContaining('try again in 17 seconds'),
        retryAfter: 17,
      },
    ],
    [
      'a rate limit without a wait',
      errorReply(429, 'slow down', FINAL),
      { code: 'upstream_rate_limited', message: expect.any(String), retryAfter: 5 },
    ],
    [
      'a rate limit whose wait is told in words alone',
      errorReply(429, 'You exceeded your current quota. Please retry in 17.3s.'),
      { code: 'upstream_rate_limited', message: expect.any(String), retryAfter: 18 },
    ],
    [
      'a server that is overloaded',
      errorReply(529, { message: 'Overloaded', type: 'overloaded_error' }, FINAL),
      {
        code: 'upstream_failed',
        message: "The chat model's server is overloaded or not ready: try again later",
      },
    ],
    [
      'a redirect',
      { status: 307, headers: { location: 'https://example.org/v1' }, steps: [] },
      { code: 'upstream_refused', message: expect.stringContaining('CHAT_BASE_URL is redirected') },
    ],
    [
      'a web page with status 200',
      webPageReply(),
      { code: 'upstream_failed', message: expect.stringMatching(/web page.*\/v1/) },
    ],
    [
      'a web page with status 404',
      webPageReply(404),
      { code: 'upstream_model_not_found', message: expect.stringMatching(/web page.*\/v1/) },
    ],
    [
      'a server that does not want to be tried again',
      errorReply(500, 'broken', FINAL),
      {
        code: 'upstream_failed',
        message:
          "The chat model failed (500): try again, and look into the log of the chat model's server if it happens again",
      },
    ],
  ])(
    '%s is told in terms of the configuration, after one request',
    async (_case, script, error) => {
      const { upstream, ask } = await startModel()
      upstream.script(script)
      await expect(ask()).rejects.toMatchObject({
        name: 'AppError',
        retryAfter: undefined,
        ...error,
      })
      expect(upstream.requests).toHaveLength(1)
    },
  )

  it('a message of any length is cut, and control characters are dropped', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(errorReply(400, `bad\u0007 value\u200B ${'long '.repeat(500)}`))
    const error = await ask().catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ message: expect.stringMatching(/: bad value long .*…$/) })
    expect(String(error).length).toBeLessThan(400)
  })

  it('an error body without an end is read in part only', async () => {
    const { upstream, ask } = await startModel()
    const endless = { steps: Array.from({ length: 64 }, () => ({ send: 'x'.repeat(64 * 1024) })) }
    upstream.script({ status: 400, headers: {}, steps: [...endless.steps, { hang: true }] })
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_refused' })
  })
})

describe('broken answers', () => {
  it.each<[string, Script, string]>([
    [
      'a stream without a finish reason',
      streamReply(chunk({ content: 'At' }), DONE),
      "The chat model's answer ended early: try again, and look into the log of the chat model's server if it happens again",
    ],
    [
      'a stream that is closed too soon',
      streamReply(chunk({ content: 'At' })),
      "The chat model's answer ended early: try again, and look into the log of the chat model's server if it happens again",
    ],
    [
      'an empty body',
      rawReply(''),
      "The chat model's answer ended early: try again, and look into the log of the chat model's server if it happens again",
    ],
    [
      'a socket that dies in the middle',
      streamReply(chunk({ content: 'At' }), { cut: true }),
      'The connection to the chat model was lost: try again',
    ],
    [
      'broken JSON',
      rawReply('data: {"choices": [\n\n'),
      expect.stringContaining("The chat model's answer cannot be read"),
    ],
    [
      'JSON of another kind',
      jsonReply({ hello: 'world' }),
      "The chat model's answer ended early: try again, and look into the log of the chat model's server if it happens again",
    ],
    [
      'a choice that is not one',
      rawReply('data: {"choices":[null]}\n\n'),
      expect.stringContaining('cannot be read'),
    ],
    [
      'a finish reason that reports a failure',
      streamReply(chunk({ content: 'At' }), chunk({}, 'insufficient_system_resource'), DONE),
      "The chat model failed (502): try again, and look into the log of the chat model's server if it happens again",
    ],
    [
      'more tool calls than are accepted',
      streamReply(...manyCalls()),
      expect.stringContaining('cannot be read'),
    ],
  ])('%s is a failure of the upstream', async (_case, script, message) => {
    const { upstream, ask } = await startModel()
    upstream.script(script)
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_failed', message })
    expect(upstream.requests).toHaveLength(1)
  })

  it('a line without an end is given up', async () => {
    const { upstream, ask } = await startModel()
    const mebibyte = { send: 'x'.repeat(1024 * 1024) }
    const line = Array.from({ length: 10 }, () => mebibyte)
    upstream.script(streamReply({ send: 'data: ' }, ...line, { hang: true }))
    const message = expect.stringContaining('cannot be read')
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_failed', message })
  })

  it('a server that ignores `stream` and answers whole is read all the same', async () => {
    const { upstream, ask } = await startModel()
    const message = { role: 'assistant', content: 'At nine [1].' }
    const usage = { prompt_tokens: 5, completion_tokens: 4 }
    upstream.script(jsonReply({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
    expect(await ask()).toMatchObject({
      text: 'At nine [1].',
      finish: { reason: 'stop', usage: { promptTokens: 5, completionTokens: 4 } },
    })
  })

  it('a server that never gives a finish reason is believed from the second answer on', async () => {
    const { upstream, ask } = await startModel()
    upstream.always(streamReply(chunk({ content: 'At nine' }), DONE))
    await expect(ask()).rejects.toThrow('ended early: try again')
    expect(await ask()).toMatchObject({ text: 'At nine', finish: { reason: 'stop' } })
    upstream.script(textReply('At ten'))
    await ask()
    await expect(ask()).rejects.toThrow('ended early')
  })

  it('a connection that dies after the finish reason does not spoil the answer', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(streamReply(chunk({ content: 'At nine' }), chunk({}, 'stop'), { cut: true }))
    expect(await ask()).toMatchObject({ text: 'At nine', finish: { reason: 'stop' } })
  })
})

describe('passing failures', () => {
  it.each<[string, Script]>([
    ['a dead socket', cutReply()],
    ['status 408', errorReply(408, 'late', NOW)],
    ['status 409', errorReply(409, 'locked', NOW)],
    ['status 429 with a short wait', errorReply(429, 'slow down', NOW)],
    ['status 500', errorReply(500, 'oops', NOW)],
    [
      'a call of a tool that Groq cannot read',
      errorReply(400, { message: 'Failed to call a function.', code: 'tool_use_failed' }, NOW),
    ],
    [
      'a bad gateway with a web page',
      { ...webPageReply(502), headers: { ...NOW, 'content-type': 'text/html' } },
    ],
    [
      'an error event before the first word',
      streamReply(event({ error: { code: 503, message: 'overloaded' } })),
    ],
  ])('%s is tried again before the first word', async (_case, script) => {
    const { upstream, ask, logged } = await startModel()
    upstream.script(script, textReply('At nine'))
    expect((await ask()).text).toBe('At nine')
    expect(upstream.requests).toHaveLength(2)
    expect(logged).toEqual([expect.objectContaining({ message: 'retrying the chat model' })])
  })

  it('keeps its kind if Anthropic reports it within the stream', async () => {
    const { upstream, ask } = await startModel()
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    upstream.script(streamReply(chunk({ content: 'At' }), event({ type: 'error', error })))
    await expect(ask()).rejects.toThrow('overloaded or not ready')
  })

  it('are tried three times in all', async () => {
    const { upstream, ask } = await startModel()
    upstream.always(errorReply(503, 'loading', NOW))
    await expect(ask()).rejects.toThrow('overloaded or not ready')
    expect(upstream.requests).toHaveLength(3)
  })

  it('give up at once when the signal is aborted while waiting', async () => {
    const { upstream, ask } = await startModel()
    upstream.always(errorReply(503, 'loading', { 'retry-after': '5' }))
    const controller = new AbortController()
    const answer = ask({}, controller.signal)
    await (await upstream.nextRequest()).closed
    controller.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    expect(upstream.requests).toHaveLength(1)
  })

  it('end in a hint to the address when nobody listens', async () => {
    const { upstream, model: unused } = await startModel()
    await upstream.close()
    const { model } = await startModel({ baseUrl: upstream.url, model: unused.name })
    const answer = readAnswer(eachEvent(model.stream(question(), new AbortController().signal)))
    await expect(answer).rejects.toMatchObject({
      code: 'upstream_failed',
      message: expect.stringMatching(/cannot be reached.*CHAT_BASE_URL/),
    })
  })
})

function manyCalls() {
  return Array.from({ length: 200 }, (_, index) =>
    chunk({
      tool_calls: [{ index, id: `call_${index}`, function: { name: 'tool', arguments: '{}' } }],
    }),
  )
}

it('A retired model is reported with those that the key can use', async () => {
  const { upstream, ask } = await startModel({ model: 'gpt-5-mini' })
  const data = ['gpt-6-luna', 'gpt-6.1-terra', 'text-embedding-4'].map((id) => ({ id }))
  upstream.tell({ '/v1/models': { object: 'list', data } })
  const message = 'The model `gpt-5-mini` has been shut down.'
  upstream.always(jsonReply({ error: { message, code: 'model_not_found' } }, 404))
  await expect(ask()).rejects.toMatchObject({
    code: 'upstream_model_not_found',
    message: expect.stringMatching(/CHAT_MODEL.*The key can use gpt-6-luna, gpt-6\.1-terra$/),
  })
})
