import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai-6'
import { createOpenAI } from 'ai-6-openai'
import { createOpenAICompatible } from 'ai-6-openai-compatible'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TEST_KEY } from '../../support/server.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const server = await startOneServer()
const where = { baseURL: server.baseURL, apiKey: TEST_KEY }
const provider = createOpenAI(where)
const compatible = createOpenAICompatible({ ...where, name: 'agent-server', includeUsage: true })
const models = {
  'openai(…)': provider('agent'),
  'openai.chat(…)': provider.chat('agent'),
  'openai-compatible': compatible('agent'),
}

beforeEach(() => server.upstream.always(textReply('At ten [1].')))

const lamp = tool({
  description: 'Switches the lamp.',
  inputSchema: z.object({ on: z.boolean() }),
  execute: ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
})

describe.each(Object.entries(models))('AI SDK 6 with %s', (_name, model) => {
  it('answers, plain and streamed', async () => {
    const asked = { model, prompt: QUESTION, maxRetries: 0 }
    for (const result of [await generateText(asked), streamText(asked)]) {
      expect(await result.text).toBe('At ten [1].')
      expect(await result.finishReason).toBe('stop')
      expect((await result.usage).totalTokens).toBe(18)
    }
  })

  it('runs its tools to an answer, plain and streamed', async () => {
    const asked = { model, prompt: 'Light, please.', tools: { lamp }, maxRetries: 0 }
    for (const how of [generateText, streamText]) {
      server.upstream.script(
        toolCallReply({ name: 'lamp', arguments: { on: true } }),
        textReply('The lamp is on.'),
      )
      const result = await how({ ...asked, stopWhen: stepCountIs(2) })
      expect(await result.text).toBe('The lamp is on.')
      const [first] = await result.steps
      expect(first?.toolResults).toMatchObject([{ output: 'the lamp is on' }])
    }
  })
})

describe('AI SDK 6', () => {
  it('reads what an answer cites of the store that its file search names', async () => {
    const file_search = provider.tools.fileSearch({ vectorStoreIds: ['vs_birds'] })
    const prompt = 'What do owls do at night?'
    const asked = { model: models['openai(…)'], prompt, tools: { file_search } }
    // @ts-expect-error The types of the package do not fit exactOptionalPropertyTypes.
    for (const result of [await generateText(asked), streamText(asked)]) {
      expect(await result.sources).toMatchObject([{ sourceType: 'document', filename: 'Owls' }])
    }
  })

  it('goes on from a response', async () => {
    const model = models['openai(…)']
    const first = await generateText({ model, prompt: QUESTION })
    const previousResponseId = z.string().parse(first.providerMetadata?.openai?.responseId)
    const providerOptions = { openai: { previousResponseId } }
    const second = await generateText({ model, prompt: 'And on Sundays?', providerOptions })
    expect(second.text).toBe('At ten [1].')
  })

  it('embeds by the model of the documents', async () => {
    const values = ['Owls hunt.', 'Herons fish.']
    const { embeddings } = await embedMany({ model: provider.embedding('any'), values })
    expect(embeddings[0]?.length).toBeGreaterThan(1)
    expect(embeddings[0]).not.toEqual(embeddings[1])
  })
})
