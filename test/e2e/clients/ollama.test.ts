import { AgentExtra } from '@agent-server/wire'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOllama, OllamaEmbeddings } from '@langchain/ollama'
import { Ollama } from 'ollama'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { WAYS } from './langchain-ways.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const { url, upstream } = await startOneServer()

beforeEach(() => upstream.always(textReply('At ten [1].')))

const headers = { authorization: `Bearer ${TEST_KEY}` }
const client = new Ollama({ host: url, headers })
const model = 'agent'
const messages = [{ role: 'user', content: QUESTION }]
const LAMP = {
  type: 'function',
  function: {
    name: 'lamp',
    description: 'Switches the lamp.',
    parameters: { type: 'object', properties: { on: { type: 'boolean' } } },
  },
}

const hitsOf = (answer: object) => z.object({ agent: AgentExtra }).parse(answer).agent.hits
const rolesSent = () => modelRequest(upstream.requests.at(-1)).messages.map(({ role }) => role)

describe('The ollama package', () => {
  it('chats, plain and streamed, and is given what the answer cites', async () => {
    const plain = await client.chat({ model, messages })
    expect(plain.message.content).toBe('At ten [1].')
    expect(plain).toMatchObject({ done_reason: 'stop', prompt_eval_count: 11, eval_count: 7 })
    expect(hitsOf(plain)[0]?.title).toBe('Opening hours')

    const parts = await Array.fromAsync(await client.chat({ model, messages, stream: true }))
    expect(parts.map(({ message }) => message.content).join('')).toBe('At ten [1].')
    expect(parts.at(-1)?.done).toBe(true)
    expect(hitsOf(parts.at(-1) ?? {})[0]?.title).toBe('Opening hours')
  })

  it('generates, plain and streamed', async () => {
    const plain = await client.generate({ model, prompt: QUESTION })
    expect(plain.response).toBe('At ten [1].')
    const parts = await client.generate({ model, prompt: QUESTION, stream: true })
    const texts = (await Array.fromAsync(parts)).map(({ response }) => response)
    expect(texts.join('')).toBe('At ten [1].')
  })

  it.each([false, true])('calls its tools to an answer, streamed: %s', async (stream) => {
    const ask = async (talk: object[]) => {
      const asked = { model, messages: talk as typeof messages, tools: [LAMP] }
      if (!stream) return (await client.chat(asked)).message
      const parts = await Array.fromAsync(await client.chat({ ...asked, stream: true }))
      return (
        parts.map(({ message }) => message).find(({ tool_calls }) => tool_calls) ?? {
          content: parts.map(({ message }) => message.content).join(''),
        }
      )
    }
    upstream.script(toolCallReply({ name: 'lamp', arguments: { on: true } }))
    const question = { role: 'user', content: 'Light, please.' }
    const calling = await ask([question])
    expect(calling).toMatchObject({
      tool_calls: [{ function: { name: 'lamp', arguments: { on: true } } }],
    })
    upstream.always(textReply('The lamp is on.'))
    const result = { role: 'tool', tool_name: 'lamp', content: 'the lamp is on' }
    expect((await ask([question, calling, result])).content).toBe('The lamp is on.')
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  it('lists and shows the agent, and embeds texts', async () => {
    const { models } = await client.list()
    expect(models.map(({ name }) => name)).toEqual([
      'agent:latest',
      'agent:birds',
      'agent-plain:latest',
    ])
    expect((await client.show({ model })).capabilities).toContain('tools')
    expect((await client.version()).version).toMatch(/^\d/)
    const { embeddings } = await client.embed({ model, input: ['Owls hunt.', 'Herons fish.'] })
    expect(embeddings).toHaveLength(2)
    expect(embeddings[0]).not.toEqual(embeddings[1])
  })

  it('receives a readable error', async () => {
    const stranger = new Ollama({ host: url, headers: { authorization: 'Bearer wrong' } })
    const refused = stranger.chat({ model, messages })
    await expect(refused).rejects.toMatchObject({
      status_code: 401,
      message: expect.stringMatching(/^The key is invalid/),
    })
    await expect(client.pull({ model: 'llama3' })).rejects.toThrow(/is not supported/)
    upstream.always(streamReply(chunk({ content: 'At ' }), { cut: true }))
    const stream = await client.chat({ model, messages, stream: true })
    await expect(Array.fromAsync(stream)).rejects.toThrow(/model/)
  })

  it('cancels, which cancels the model’s request', async () => {
    upstream.always(streamReply(chunk({ content: 'At ten, at ' }), { hang: true }))
    const asked = upstream.nextRequest()
    const leaving = new Ollama({ host: url, headers })
    const answer = await leaving.chat({ model, messages, stream: true })
    leaving.abort()
    await expect(Array.fromAsync(answer)).rejects.toThrow()
    const request = await asked
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})

describe('LangChain’s provider of Ollama', () => {
  const at = { model, baseUrl: url, headers, maxRetries: 0 }
  const agent = new ChatOllama(at)

  it.each(WAYS)('reads the answer and its usage, %s', async (_how, ask) => {
    const message = await ask(agent, QUESTION)
    expect(message.text).toBe('At ten [1].')
    expect(message.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  })

  it.each(WAYS)('calls its tools and answers from their results, %s', async (_how, ask) => {
    upstream.script(toolCallReply({ name: 'lamp', arguments: { on: true } }))
    const calling = agent.bindTools([LAMP])
    const question = new HumanMessage('Light, please.')
    const message = await ask(calling, [question])
    const [call] = message.tool_calls ?? []
    expect(call).toMatchObject({ name: 'lamp', args: { on: true } })
    upstream.always(textReply('The lamp is on.'))
    const result = new ToolMessage({ content: 'the lamp is on', tool_call_id: call?.id ?? '' })
    expect((await ask(calling, [question, message, result])).text).toBe('The lamp is on.')
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  it('embeds by the model of the documents', async () => {
    const embeddings = new OllamaEmbeddings(at)
    const [owls = [], herons] = await embeddings.embedDocuments(['Owls hunt.', 'Herons fish.'])
    expect(owls.length).toBeGreaterThan(1)
    expect(owls).not.toEqual(herons)
  })
})
