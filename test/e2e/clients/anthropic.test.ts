import { AgentExtra } from '@agent-server/wire'
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
} from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import {
  chunk,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const { url, upstream } = await startOneServer()

beforeEach(() => upstream.always(textReply('At ten [1].')))

const clientWith = (apiKey: string) => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
const client = clientWith(TEST_KEY)
const messages = [{ role: 'user' as const, content: QUESTION }]
const ask = { model: 'agent', max_tokens: 1_000, messages }
const LAMP: Anthropic.Tool = {
  name: 'lamp',
  description: 'Switches the lamp.',
  input_schema: { type: 'object', properties: { on: { type: 'boolean' } } },
}

const CITED = {
  type: 'char_location',
  document_title: 'Opening hours',
  cited_text: expect.stringContaining('On Saturdays it opens at ten.'),
}

type Params = Anthropic.MessageCreateParamsNonStreaming
const ways: [string, (params: Params) => Promise<Anthropic.Message>][] = [
  ['plain', (params) => client.messages.create(params)],
  ['streamed', (params) => client.messages.stream(params).finalMessage()],
]

describe.each(ways)('Anthropic’s package, %s,', (_how, create) => {
  it('reads the answer, what it cites and its usage', async () => {
    const message = await create({ ...ask, system: 'Be brief.' })
    expect(message).toMatchObject({ role: 'assistant', model: 'agent', stop_reason: 'end_turn' })
    expect(message.content).toMatchObject([
      { type: 'text', text: 'At ten [1].', citations: [CITED] },
    ])
    expect(message.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  })

  it('calls its tools and answers from their results', async () => {
    upstream.script(toolCallReply({ name: 'lamp', arguments: { on: true }, id: 'call_1' }))
    const question = { role: 'user' as const, content: 'Light, please.' }
    const params = { ...ask, tools: [LAMP], messages: [question] }
    const calling = await create(params)
    expect(calling.stop_reason).toBe('tool_use')
    expect(calling.content).toMatchObject([{ type: 'tool_use', name: 'lamp', input: { on: true } }])
    upstream.always(textReply('The lamp is on.'))
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'it is on' }
    const answer = await create({
      ...params,
      messages: [
        question,
        { role: 'assistant', content: calling.content },
        { role: 'user', content: [result] },
      ],
    })
    expect(answer.content).toMatchObject([{ type: 'text', text: 'The lamp is on.' }])
    const roles = modelRequest(upstream.requests.at(-1)).messages.map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool'])
  })
})

describe('Anthropic’s package', () => {
  it('sends instructions and images', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
    const content = [{ type: 'image', source } as const, { type: 'text', text: QUESTION } as const]
    await client.messages.create({
      ...ask,
      system: 'Be brief.',
      messages: [{ role: 'user', content }],
    })
    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    expect(sent).toContain('Be brief.')
    expect(sent).toContain('data:image/png;base64,iVBORw0KGgo=')
  })

  it('is given the hits, and counts tokens', async () => {
    const message: unknown = await client.messages.create(ask)
    const { agent } = z.object({ agent: AgentExtra }).parse(message)
    expect(agent.hits[0]?.title).toBe('Opening hours')
    const { input_tokens } = await client.messages.countTokens({ model: 'agent', messages })
    expect(input_tokens).toBeGreaterThan(5)
  })

  it('receives errors for a wrong key, an invalid request and a failing model', async () => {
    await expect(clientWith('wrong').messages.create(ask)).rejects.toBeInstanceOf(
      AuthenticationError,
    )
    const refused = client.messages.create({ ...ask, max_tokens: 0 })
    await expect(refused).rejects.toBeInstanceOf(BadRequestError)
    await expect(refused).rejects.toMatchObject({
      type: 'invalid_request_error',
      requestID: expect.any(String),
      message: expect.stringContaining('max_tokens: must be at least 1'),
    })
    upstream.always(streamReply(chunk({ content: 'Half of ' }), { cut: true }))
    const failing = client.messages.stream(ask).finalMessage()
    await expect(failing).rejects.toBeInstanceOf(APIError)
  })

  it.each([false, true])(
    'runs tools by its own runner, which is told that no thread is kept, streamed: %s',
    async (stream) => {
      const calls = [true, false].map((on) => toolCallReply({ name: 'lamp', arguments: { on } }))
      upstream.script(...calls, textReply('The lamp is off.'))
      const switched: boolean[] = []
      const lamp = betaTool({
        name: 'lamp',
        description: 'Switches the lamp.',
        inputSchema: {
          type: 'object',
          properties: { on: { type: 'boolean' } },
          required: ['on'],
        },
        run: ({ on }) => {
          switched.push(on)
          return `the lamp is ${on ? 'on' : 'off'}`
        },
      })
      const tools = [lamp]
      const runner = client.beta.messages.toolRunner({ ...ask, tools, stream })
      const { content } = await runner.runUntilDone()
      expect(content).toMatchObject([{ type: 'text', text: 'The lamp is off.' }])
      expect(switched).toEqual([true, false])
      const roles = modelRequest(upstream.requests.at(-1)).messages.map(({ role }) => role)
      expect(roles.filter((role) => role === 'tool')).toHaveLength(2)
    },
  )

  it('lists the agent as a model, page by page', async () => {
    const models = await Array.fromAsync(client.models.list({ limit: 1 }))
    expect(models[0]).toMatchObject({ type: 'model', id: 'agent', created_at: expect.any(String) })
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length)
    expect((await client.models.retrieve('agent')).display_name).toBe('agent')
  })

  it('receives the alternative to batches', async () => {
    const refused = client.messages.batches.create({ requests: [{ custom_id: 'a', params: ask }] })
    await expect(refused).rejects.toBeInstanceOf(NotFoundError)
    await expect(refused).rejects.toThrow(
      '/v1/messages/batches is not supported. Use /v1/messages.',
    )
  })

  it('cancels, which cancels the model’s request', async () => {
    upstream.always(hangReply())
    const asked = upstream.nextRequest()
    const stream = client.messages.stream(ask)
    const request = await asked
    stream.abort()
    await expect(stream.finalMessage()).rejects.toThrow()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})
