import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { type OneServer, QUESTION, startOneServer } from './one-server.ts'

let server: OneServer

beforeAll(async () => {
  server = await startOneServer()
  return server.close
})

beforeEach(() => server.upstream.always(textReply('At ten [1].')))

function agent() {
  const options = { model: 'agent', apiKey: TEST_KEY, maxRetries: 0, useResponsesApi: true }
  return new ChatOpenAI({ ...options, configuration: { baseURL: server.baseURL } })
}

const lamp = tool(({ on }) => `the lamp is ${on ? 'on' : 'off'}`, {
  name: 'lamp',
  description: 'Switches the lamp.',
  schema: z.object({ on: z.boolean() }),
})

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
