import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Completion, CompletionChunk } from '../../../src/dialects/completions/answer-schema.ts'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import {
  chunk,
  event,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const server = await startOneServer()

beforeEach(() => server.upstream.always(textReply('At ten [1].')))

function agentAt(apiKey = TEST_KEY) {
  const options = {
    model: 'agent',
    apiKey,
    maxRetries: 0,
    configuration: { baseURL: server.baseURL },
  }
  return new ChatOpenAI({ ...options, __includeRawResponse: true })
}

const lamp = tool(({ on }) => `the lamp is ${on ? 'on' : 'off'}`, {
  name: 'lamp',
  description: 'Switches the lamp.',
  schema: z.object({ on: z.boolean() }),
})

describe('LangChain', () => {
  it('invokes the agent, and is given what it cites and its usage', async () => {
    const message = await agentAt().invoke(QUESTION)
    expect(message.text).toBe('At ten [1].')
    expect(message.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) })
    const raw = Completion.parse(message.additional_kwargs.__raw_response)
    expect(raw.agent.hits[0]?.title).toBe('Opening hours')
  })

  it('streams the agent, and is given its usage', async () => {
    const stream = await agentAt().stream(QUESTION)
    const whole = (await Array.fromAsync(stream)).reduce((sum, part) => sum.concat(part))
    expect(whole.text).toBe('At ten [1].')
    expect(whole.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) })
  })

  // It drops every chunk without choices.
  it('receives the citations of a streamed answer', async () => {
    const stream = await agentAt().stream(QUESTION)
    const hits = (await Array.fromAsync(stream))
      .map(({ additional_kwargs }) => CompletionChunk.safeParse(additional_kwargs.__raw_response))
      .flatMap(({ data }) => data?.agent?.hits ?? [])
    expect(hits[0]?.title).toBe('Opening hours')
  })

  it.each(['invoke', 'stream'] as const)('is given its own tools to call by %s', async (how) => {
    server.upstream.always(toolCallReply({ name: 'lamp', arguments: { on: true } }))
    const model = agentAt().bindTools([lamp])
    const message =
      how === 'invoke'
        ? await model.invoke('Light, please.')
        : (await Array.fromAsync(await model.stream('Light, please.'))).reduce((sum, part) =>
            sum.concat(part),
          )
    expect(message.tool_calls).toMatchObject([{ name: 'lamp', args: { on: true } }])
    const [call] = message.tool_calls ?? []
    if (!call) throw new Error('There is no call')
    const result = await lamp.invoke({ ...call, type: 'tool_call' })

    server.upstream.always(textReply('The lamp is on.'))
    const answer = await model.invoke([
      { role: 'user', content: 'Light, please.' },
      message,
      result,
    ])
    expect(answer.text).toBe('The lamp is on.')
  })
})

describe('LangChain receives an error', () => {
  it('of a wrong key', async () => {
    const asked = agentAt('a-key-that-is-not-right').invoke(QUESTION)
    await expect(asked).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('that the model fails amid its answer', async () => {
    const failing = streamReply(
      chunk({ content: 'At ' }),
      event({ error: { message: 'overload' } }),
    )
    server.upstream.always(failing)
    const stream = await agentAt().stream(QUESTION)
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'upstream_failed' })
  })
})

describe('When LangChain cancels', () => {
  it('cancels the model’s request, too', async () => {
    server.upstream.always(hangReply())
    const asked = server.upstream.nextRequest()
    const leaving = new AbortController()
    const answer = agentAt().invoke(QUESTION, { signal: leaving.signal })
    const request = await asked
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})

function agent() {
  const options = { model: 'agent', apiKey: TEST_KEY, maxRetries: 0, useResponsesApi: true }
  return new ChatOpenAI({ ...options, configuration: { baseURL: server.baseURL } })
}

type Model = Pick<ChatOpenAI, 'invoke' | 'stream'>
type Messages = Parameters<ChatOpenAI['invoke']>[0]

const invoked = (model: Model, input: Messages) => model.invoke(input)
const streamed = async (model: Model, input: Messages) =>
  (await Array.fromAsync(await model.stream(input))).reduce((sum, part) => sum.concat(part))

describe('LangChain over Responses', () => {
  it.each([
    ['invoked', invoked],
    ['streamed', streamed],
  ])('reads the answer and what it cites, %s', async (_how, ask) => {
    const message = await ask(agent(), QUESTION)
    expect(message.text).toBe('At ten [1].')
    expect(message.usage_metadata).toMatchObject({ total_tokens: 18 })
    expect(JSON.stringify(message.content)).toMatch(/"file_citation".*"title":"Opening hours"/)
  })

  it.each([
    ['invoked', invoked],
    ['streamed', streamed],
  ])('calls its tools and answers from their results, %s', async (_how, ask) => {
    server.upstream.script(toolCallReply({ name: 'lamp', arguments: { on: true }, id: 'call_1' }))
    const question = new HumanMessage('Light, please.')
    const calling = agent().bindTools([lamp])
    const message = await ask(calling, [question])
    const [call] = message.tool_calls ?? []
    expect(call).toMatchObject({ name: 'lamp', args: { on: true } })
    server.upstream.always(textReply('The lamp is on.'))
    const result = new ToolMessage({ content: 'the lamp is on', tool_call_id: call?.id ?? '' })
    const answer = await ask(calling, [question, message, result])
    expect(answer.text).toBe('The lamp is on.')
    const roles = modelRequest(server.upstream.requests.at(-1)).messages.map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  it('goes on from a response', async () => {
    const first = await agent().invoke(QUESTION)
    const previous_response_id = z.string().parse(first.response_metadata.id)
    await agent().invoke('And on Sundays?', { previous_response_id })
    const roles = modelRequest(server.upstream.requests.at(-1)).messages.map(({ role }) => role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'user'])
  })

  it('searches the store that its file search names', async () => {
    const searching = agent().bindTools([{ type: 'file_search', vector_store_ids: ['vs_birds'] }])
    const { content } = await searching.invoke('What do owls do at night?')
    expect(JSON.stringify(content)).toContain('"title":"Owls"')
  })

  it('embeds by the model of the documents', async () => {
    const configuration = { baseURL: server.baseURL }
    const embeddings = new OpenAIEmbeddings({ model: 'any', apiKey: TEST_KEY, configuration })
    const [owls = [], herons] = await embeddings.embedDocuments(['Owls hunt.', 'Herons fish.'])
    expect(owls.length).toBeGreaterThan(1)
    expect(owls).not.toEqual(herons)
    expect(await embeddings.embedQuery('Owls hunt.')).toEqual(owls)
  })
})
