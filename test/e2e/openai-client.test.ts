import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Completion, CompletionChunk } from '../../src/dialects/completions/answer-schema.ts'
import { TEST_KEY } from '../support/server.ts'
import {
  chunk,
  errorReply,
  event,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './clients/one-server.ts'

const { baseURL, upstream } = await startOneServer()
const client = new OpenAI({ baseURL, apiKey: TEST_KEY, maxRetries: 0 })

beforeEach(() => upstream.always(textReply('At ten [1].')))

const messages = [{ role: 'user' as const, content: QUESTION }]
const ask = { model: 'agent', messages }
const LAMP = {
  type: 'function' as const,
  function: { name: 'switch_lamp', parameters: { type: 'object', properties: {} } },
}

describe('The openai package', () => {
  it('completes a plain chat, with what it cites', async () => {
    const completion = await client.chat.completions.create(ask)
    expect(completion.choices[0]?.message.content).toBe('At ten [1].')
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    expect(Completion.parse(completion).agent.hits[0]?.title).toBe('Opening hours')
  })

  it('completes a streamed chat, with what it cites and its usage', async () => {
    const stream_options = { include_usage: true }
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      stream_options,
    })
    const chunks = await Array.fromAsync(stream)
    const answer = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(answer).toBe('At ten [1].')
    const [end, usage] = chunks.slice(-2).map((chunk) => CompletionChunk.parse(chunk))
    expect(end?.agent?.hits[0]?.title).toBe('Opening hours')
    expect(usage?.usage?.total_tokens).toBeGreaterThan(10)
  })

  it('gathers a stream with its helper', async () => {
    const stream = client.chat.completions.stream({
      ...ask,
      stream_options: { include_usage: true },
    })
    expect(await stream.finalContent()).toBe('At ten [1].')
    const { usage, choices } = await stream.finalChatCompletion()
    expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
    expect(choices).toMatchObject([{ finish_reason: 'stop', message: { role: 'assistant' } }])
  })

  it('is given its own tools to call, streamed and plain', async () => {
    upstream.always(toolCallReply({ name: 'switch_lamp', arguments: { on: true } }))
    const plain = await client.chat.completions.create({ ...ask, tools: [LAMP], stream: false })
    const stream = client.chat.completions.stream({ ...ask, tools: [LAMP] })
    const streamed = await stream.finalChatCompletion()
    for (const { choices } of [plain, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      const [call] = choices[0]?.message.tool_calls ?? []
      expect(call).toMatchObject({ type: 'function', function: { name: 'switch_lamp' } })
      expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ on: true })
    }
  })

  it('runs its tools to an answer with its helper', async () => {
    upstream.script(
      toolCallReply({ name: 'switch_lamp', arguments: { on: true } }),
      textReply('The lamp is on.'),
    )
    const switched: unknown[] = []
    const runner = client.chat.completions.runTools({
      ...ask,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            name: 'switch_lamp',
            description: 'Switches the lamp.',
            parameters: { type: 'object', properties: { on: { type: 'boolean' } } },
            parse: JSON.parse,
            function: (input: unknown) => {
              switched.push(input)
              return 'done'
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('The lamp is on.')
    expect(switched).toEqual([{ on: true }])
  })

  it('parses a structured answer', async () => {
    upstream.always(textReply('{"hour": 10}'))
    const Hours = z.object({ hour: z.int() })
    const { choices } = await client.chat.completions.parse({
      ...ask,
      stream: false,
      response_format: zodResponseFormat(Hours, 'hours'),
    })
    expect(choices[0]?.message.parsed).toEqual({ hour: 10 })
  })

  it('lists the agent as a model, and reads it', async () => {
    const [agent] = await Array.fromAsync(client.models.list())
    expect(agent).toMatchObject({ id: 'agent', object: 'model', owned_by: 'agent-server' })
    expect(await client.models.retrieve('agent')).toEqual(agent)
    await expect(client.models.retrieve('gpt-x')).rejects.toBeInstanceOf(NotFoundError)
  })
})

describe('The openai package receives', () => {
  it('of a wrong key', async () => {
    const stranger = client.withOptions({ apiKey: 'a-key-that-is-not-right' })
    const failure = await stranger.chat.completions.create(ask).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AuthenticationError)
    expect(failure).toMatchObject({ status: 401, code: 'unauthorized', requestID: /./ })
  })

  it('which field is wrong', async () => {
    const wrong = client.chat.completions.create({ ...ask, temperature: 3, stream: false })
    const failure = await wrong.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ param: 'temperature', code: 'invalid_request' })
  })

  it.each([true, false])(
    'that the model refuses before it answers (stream: %s)',
    async (stream) => {
      upstream.always(errorReply(401, 'Incorrect API key provided: sk-secret'))
      const asked = client.chat.completions.create({ ...ask, stream })
      const failure = await asked.catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(InternalServerError)
      expect(failure).toMatchObject({ status: 502, code: 'upstream_unauthorized' })
      expect(String(failure)).not.toContain('sk-secret')
    },
  )

  it('that the model fails amid its answer', async () => {
    const failing = streamReply(
      chunk({ content: 'At ' }),
      event({ error: { message: 'overload' } }),
    )
    upstream.always(failing)
    const stream = await client.chat.completions.create({ ...ask, stream: true })
    let answer = ''
    const read = async () => {
      for await (const { choices } of stream) answer += choices[0]?.delta.content ?? ''
    }
    await expect(read()).rejects.toMatchObject({ code: 'upstream_failed', type: 'upstream_error' })
    expect(answer).toBe('At ')
  })
})

describe('When the openai package cancels', () => {
  it.each([true, false])('the model is left, too (stream: %s)', async (stream) => {
    upstream.always(stream ? streamReply(chunk({ content: 'At ' }), { hang: true }) : hangReply())
    const asked = upstream.nextRequest()
    const leaving = new AbortController()
    const { signal } = leaving
    const answer = client.chat.completions.create({ ...ask, stream }, { signal })
    const request = await asked
    if (stream) await answer
    else answer.catch(() => 'aborted')
    leaving.abort()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})
