import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Completion, CompletionChunk } from '../../../src/schemas/openai/completion.ts'
import { TEST_KEY } from '../../support/server.ts'
import {
  chunk,
  errorReply,
  event,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../../support/upstream-replies.ts'
import { QUESTION, startTwoServers, type TwoServers } from './two-servers.ts'

let servers: TwoServers
let extractive: OpenAI
let modelled: OpenAI

beforeAll(async () => {
  servers = await startTwoServers()
  const client = (baseURL: string) => new OpenAI({ baseURL, apiKey: TEST_KEY, maxRetries: 0 })
  extractive = client(servers.extractive)
  modelled = client(servers.modelled)
  return servers.close
})

beforeEach(() => servers.upstream.always(textReply('At ten [1].')))

const messages = [{ role: 'user' as const, content: QUESTION }]
const ask = { model: 'agent', messages }
const LAMP = {
  type: 'function' as const,
  function: { name: 'switch_lamp', parameters: { type: 'object', properties: {} } },
}

describe('The openai package', () => {
  it('completes a plain chat, with what it cites', async () => {
    const completion = await extractive.chat.completions.create({ ...ask, stream: false })
    expect(completion.choices[0]?.message.content).toContain('On Saturdays it opens at ten.')
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    expect(Completion.parse(completion).agent.hits[0]?.title).toBe('Opening hours')
  })

  it('completes a plain chat where nothing is said of streaming', async () => {
    const completion = await extractive.chat.completions.create(ask)
    expect(completion.choices[0]?.message.content).toContain('On Saturdays it opens at ten.')
  })

  it('completes a streamed chat, with what it cites and its usage', async () => {
    const stream_options = { include_usage: true }
    const stream = await extractive.chat.completions.create({
      ...ask,
      stream: true,
      stream_options,
    })
    const chunks = await Array.fromAsync(stream)
    const answer = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(answer).toContain('On Saturdays it opens at ten. [1]')
    const [end, usage] = chunks.slice(-2).map((chunk) => CompletionChunk.parse(chunk))
    expect(end?.agent?.hits[0]?.title).toBe('Opening hours')
    expect(usage?.usage?.total_tokens).toBeGreaterThan(10)
  })

  it('gathers a stream with its helper', async () => {
    const stream = modelled.chat.completions.stream({
      ...ask,
      stream_options: { include_usage: true },
    })
    expect(await stream.finalContent()).toBe('At ten [1].')
    const { usage, choices } = await stream.finalChatCompletion()
    expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
    expect(choices).toMatchObject([{ finish_reason: 'stop', message: { role: 'assistant' } }])
  })

  it('is given its own tools to call, streamed and plain', async () => {
    servers.upstream.always(toolCallReply({ name: 'switch_lamp', arguments: { on: true } }))
    const plain = await modelled.chat.completions.create({ ...ask, tools: [LAMP], stream: false })
    const stream = modelled.chat.completions.stream({ ...ask, tools: [LAMP] })
    const streamed = await stream.finalChatCompletion()
    for (const { choices } of [plain, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      const [call] = choices[0]?.message.tool_calls ?? []
      expect(call).toMatchObject({ type: 'function', function: { name: 'switch_lamp' } })
      expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ on: true })
    }
  })

  it('runs its tools to an answer with its helper', async () => {
    servers.upstream.script(
      toolCallReply({ name: 'switch_lamp', arguments: { on: true } }),
      textReply('The lamp is on.'),
    )
    const switched: unknown[] = []
    const runner = modelled.chat.completions.runTools({
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
    servers.upstream.always(textReply('{"hour": 10}'))
    const Hours = z.object({ hour: z.int() })
    const { choices } = await modelled.chat.completions.parse({
      ...ask,
      stream: false,
      response_format: zodResponseFormat(Hours, 'hours'),
    })
    expect(choices[0]?.message.parsed).toEqual({ hour: 10 })
  })

  it('lists the agent as a model, and reads it', async () => {
    const models = await Array.fromAsync(extractive.models.list())
    expect(models).toMatchObject([{ id: 'agent', object: 'model', owned_by: 'agent-server' }])
    expect(await extractive.models.retrieve('agent')).toEqual(models[0])
    await expect(extractive.models.retrieve('gpt-x')).rejects.toBeInstanceOf(NotFoundError)
  })
})

describe('The openai package is told', () => {
  it('of a wrong key', async () => {
    const stranger = extractive.withOptions({ apiKey: 'a-key-that-is-not-right' })
    const failure = await stranger.chat.completions.create(ask).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AuthenticationError)
    expect(failure).toMatchObject({ status: 401, code: 'unauthorized', requestID: /./ })
  })

  it('which field is wrong', async () => {
    const wrong = extractive.chat.completions.create({ ...ask, temperature: 3, stream: false })
    const failure = await wrong.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ param: 'temperature', code: 'invalid_request' })
  })

  it.each([true, false])(
    'that the model refuses before it answers (stream: %s)',
    async (stream) => {
      servers.upstream.always(errorReply(401, 'Incorrect API key provided: sk-secret'))
      const asked = modelled.chat.completions.create({ ...ask, stream })
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
    servers.upstream.always(failing)
    const stream = await modelled.chat.completions.create({ ...ask, stream: true })
    let answer = ''
    const read = async () => {
      for await (const { choices } of stream) answer += choices[0]?.delta.content ?? ''
    }
    await expect(read()).rejects.toMatchObject({ code: 'upstream_failed', type: 'upstream_error' })
    expect(answer).toBe('At ')
  })
})

describe('When the openai package leaves', () => {
  it.each([true, false])('the model is left, too (stream: %s)', async (stream) => {
    servers.upstream.always(
      stream ? streamReply(chunk({ content: 'At ' }), { hang: true }) : hangReply(),
    )
    const asked = servers.upstream.nextRequest()
    const leaving = new AbortController()
    const { signal } = leaving
    const answer = modelled.chat.completions.create({ ...ask, stream }, { signal })
    const request = await asked
    if (stream) await answer
    else answer.catch(() => 'aborted')
    leaving.abort()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})
