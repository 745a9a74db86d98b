import { createOpenAI } from '@ai-sdk/openai'
import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai'
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

const provider = () => createOpenAI({ baseURL: server.baseURL, apiKey: TEST_KEY })
const model = () => provider()('agent')

const lamp = tool({
  description: 'Switches the lamp.',
  inputSchema: z.object({ on: z.boolean() }),
  execute: ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
})

describe("The AI SDK's openai('agent')", () => {
  it('answers over Responses with its sources, plain and streamed', async () => {
    const asked = { model: model(), prompt: QUESTION, maxRetries: 0 }
    for (const result of [await generateText(asked), streamText(asked)]) {
      expect(await result.text).toBe('At ten [1].')
      expect(await result.finishReason).toBe('stop')
      expect((await result.usage).totalTokens).toBe(18)
      expect(await result.sources).toMatchObject([
        { sourceType: 'document', filename: 'Opening hours' },
      ])
    }
  })

  it.each([true, false])('runs its tools to an answer, with store: %s', async (store) => {
    const asked = {
      ...{ model: model(), prompt: 'Light, please.', tools: { lamp }, maxRetries: 0 },
      ...{ stopWhen: stepCountIs(2), providerOptions: { openai: { store } } },
    }
    for (const how of [generateText, streamText]) {
      server.upstream.script(
        toolCallReply({ name: 'lamp', arguments: { on: true } }),
        textReply('The lamp is on.'),
      )
      const result = await how(asked)
      const steps = await result.steps
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
      expect(await result.text).toBe('The lamp is on.')
    }
  })

  it.each([true, false])('goes on from what was said, with store: %s', async (store) => {
    const question = { role: 'user' as const, content: QUESTION }
    const providerOptions = { openai: { store } }
    const first = await generateText({ model: model(), messages: [question], providerOptions })
    const next = { role: 'user' as const, content: 'And on Sundays?' }
    const messages = [question, ...first.response.messages, next]
    const second = await generateText({ model: model(), messages, providerOptions })
    expect(second.text).toBe('At ten [1].')
    const roles = ['system', 'user', 'assistant', 'user']
    const sent = () => modelRequest(server.upstream.requests.at(-1)).messages
    expect(sent().map(({ role }) => role)).toEqual(roles)
    if (!store) return
    const previousResponseId = z.string().parse(first.providerMetadata?.openai?.responseId)
    const from = { openai: { previousResponseId } }
    await generateText({ model: model(), messages: [next], providerOptions: from })
    expect(sent().map(({ role }) => role)).toEqual(roles)
  })

  it('searches the store that its file search names', async () => {
    const file_search = provider().tools.fileSearch({ vectorStoreIds: ['vs_birds'] })
    const asked = { model: model(), prompt: 'What do owls do at night?', tools: { file_search } }
    const { sources } = await generateText(asked)
    expect(sources).toMatchObject([{ sourceType: 'document', filename: 'Owls' }])
  })

  it('embeds by the model of the documents', async () => {
    const values = ['Owls hunt.', 'Herons fish.']
    const { embeddings } = await embedMany({ model: provider().embedding('any'), values })
    expect(embeddings).toHaveLength(2)
    expect(embeddings[0]?.length).toBeGreaterThan(1)
    expect(embeddings[0]).not.toEqual(embeddings[1])
  })

  it('streams over chat completions', async () => {
    const asked = { model: provider().chat('agent'), prompt: QUESTION, maxRetries: 0 }
    expect(await streamText(asked).text).toBe('At ten [1].')
  })
})
