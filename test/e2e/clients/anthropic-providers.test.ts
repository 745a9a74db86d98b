import { Message } from '@agent-server/compat'
import { createAnthropic } from '@ai-sdk/anthropic'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { streamed, WAYS } from './langchain-ways.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const { url, upstream } = await startOneServer()
const OWLS = 'https://owl.example/a'
await fetch(`${url}/documents?wait=60`, {
  method: 'POST',
  headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({ title: 'Barn owls', text: 'Barn owls eat voles.', url: OWLS }),
})

beforeEach(() => upstream.always(textReply('At ten [1].')))

const sent = () => modelRequest(upstream.requests.at(-1)).messages
const rolesSent = () => sent().map(({ role }) => role)
const callOfLamp = () => toolCallReply({ name: 'lamp', arguments: { on: true }, id: 'call_1' })

describe('AI SDK’s provider of Anthropic', () => {
  const provider = (apiKey = TEST_KEY) => createAnthropic({ baseURL: `${url}/v1`, apiKey })
  const model = provider()('agent')
  const plain = async (asked: object) =>
    generateText({ model, prompt: QUESTION, maxRetries: 0, ...asked })
  const streamed = async (asked: object) => {
    const result = streamText({ model, prompt: QUESTION, maxRetries: 0, ...asked })
    return {
      text: await result.text,
      usage: await result.usage,
      sources: await result.sources,
      finishReason: await result.finishReason,
    }
  }
  const ways = [
    ['plain', plain],
    ['streamed', streamed],
  ] as const

  it.each(ways)('reads the answer and its usage, %s', async (_how, ask) => {
    const answer = await ask({ system: 'Be brief.' })
    expect(answer).toMatchObject({ text: 'At ten [1].', finishReason: 'stop' })
    expect(answer.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 })
    expect(sent()[0]?.content).toContain('Be brief.')
  })

  it.each(ways)('reads a document of the web as a source, %s', async (_how, ask) => {
    upstream.always(textReply('Voles [1].'))
    const { sources } = await ask({ prompt: 'What do barn owls eat?' })
    expect(sources).toMatchObject([{ sourceType: 'url', url: OWLS, title: 'Barn owls' }])
  })

  it('is given the other documents in the body of the answer', async () => {
    const { response } = await plain({ include: { responseBody: true } })
    const [block] = Message.parse(response.body).content
    expect(block).toMatchObject({ citations: [{ document_title: 'Opening hours' }] })
  })

  it.each(ways)('runs its tools to an answer, %s', async (_how, ask) => {
    upstream.script(callOfLamp(), textReply('The lamp is on.'))
    const lamp = tool({
      description: 'Switches the lamp.',
      inputSchema: z.object({ on: z.boolean() }),
      execute: ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
    })
    const { text } = await ask({ prompt: 'Light.', tools: { lamp }, stopWhen: stepCountIs(3) })
    expect(text).toBe('The lamp is on.')
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  it('sends an image', async () => {
    const image = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' }
    const content = [{ type: 'text', text: QUESTION }, image]
    await plain({ prompt: [{ role: 'user', content }] })
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(
      'data:image/png;base64,iVBORw0KGgo=',
    )
  })

  it('receives an error for a wrong key', async () => {
    const asked = generateText({ model: provider('wrong')('agent'), prompt: QUESTION })
    await expect(asked).rejects.toBeInstanceOf(APICallError)
    await expect(asked).rejects.toMatchObject({
      statusCode: 401,
      message: expect.stringMatching(/^The key is invalid/),
    })
  })
})

describe('LangChain’s provider of Anthropic', () => {
  const agent = new ChatAnthropic({
    model: 'agent',
    anthropicApiUrl: url,
    apiKey: TEST_KEY,
    maxRetries: 0,
  })

  it.each(WAYS)('reads the answer and its usage, %s', async (_how, ask) => {
    const message = await ask(agent, QUESTION)
    expect(message.text).toBe('At ten [1].')
    expect(message.usage_metadata).toMatchObject({ output_tokens: 7 })
  })

  // Of a plain answer with a single text, it keeps the text alone.
  it('receives the citations of a streamed answer', async () => {
    const { content } = await streamed(agent, QUESTION)
    expect(JSON.stringify(content)).toMatch(/"char_location".*"document_title":"Opening hours"/)
  })

  it.each(WAYS)('calls its tools and answers from their results, %s', async (_how, ask) => {
    upstream.script(callOfLamp())
    const input_schema = { type: 'object' as const, properties: { on: { type: 'boolean' } } }
    const calling = agent.bindTools([{ name: 'lamp', description: 'Switches.', input_schema }])
    const question = new HumanMessage('Light, please.')
    const message = await ask(calling, [question])
    const [call] = message.tool_calls ?? []
    expect(call).toMatchObject({ name: 'lamp', args: { on: true } })
    upstream.always(textReply('The lamp is on.'))
    const result = new ToolMessage({ content: 'the lamp is on', tool_call_id: call?.id ?? '' })
    expect((await ask(calling, [question, message, result])).text).toBe('The lamp is on.')
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'tool'])
  })
})
