import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, embedMany, generateText, stepCountIs, streamText, tool } from 'ai'
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

/** The agent of a server as a model. */
function agentAt(apiKey = TEST_KEY) {
  const provider = createOpenAICompatible({
    name: 'agent-server',
    baseURL: server.baseURL,
    apiKey,
    includeUsage: true,
  })
  return provider.chatModel('agent')
}

const provider = () => createOpenAI({ baseURL: server.baseURL, apiKey: TEST_KEY })
const model = () => provider()('agent')

const lamp = tool({
  description: 'Switches the lamp.',
  inputSchema: z.object({ on: z.boolean() }),
  execute: ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
})

describe('The AI SDK', () => {
  it('generates a text, with what it cites and its usage', async () => {
    const result = await generateText({
      model: agentAt(),
      prompt: QUESTION,
      include: { responseBody: true },
    })
    expect(result.text).toBe('At ten [1].')
    expect(result.finishReason).toBe('stop')
    expect(result.usage.totalTokens).toBeGreaterThan(10)
    expect(Completion.parse(result.response.body).agent.hits[0]?.title).toBe('Opening hours')
  })

  it('generates a text with the provider of OpenAI itself', async () => {
    const result = await generateText({ model: provider().chat('agent'), prompt: QUESTION })
    expect(result.text).toBe('At ten [1].')
  })

  it('streams a text, with what it cites and its usage', async () => {
    const result = streamText({
      model: agentAt(),
      prompt: QUESTION,
      include: { rawChunks: true },
    })
    const parts = await Array.fromAsync(result.fullStream)
    const raw = parts.flatMap((part) => (part.type === 'raw' ? [part.rawValue] : []))
    const hits = raw.flatMap((value) => CompletionChunk.parse(value).agent?.hits ?? [])
    expect(await result.text).toBe('At ten [1].')
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).totalTokens).toBeGreaterThan(10)
    expect(hits[0]?.title).toBe('Opening hours')
  })

  it.each(['plain', 'streamed'])('runs its own tools to an answer, %s', async (how) => {
    server.upstream.script(
      toolCallReply({ name: 'lamp', arguments: { on: true } }),
      textReply('The lamp is on.'),
    )
    const options = {
      model: agentAt(),
      prompt: 'Light, please.',
      tools: { lamp },
      stopWhen: stepCountIs(2),
    }
    const result = how === 'plain' ? await generateText(options) : streamText(options)
    const steps = await result.steps
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]?.toolResults).toMatchObject([
      { toolName: 'lamp', input: { on: true }, output: 'the lamp is on' },
    ])
    expect(await result.text).toBe('The lamp is on.')
  })
})

describe('The AI SDK receives an error', () => {
  it('of a wrong key', async () => {
    const model = agentAt('a-key-that-is-not-right')
    const failure = await generateText({ model, prompt: QUESTION }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(APICallError)
    expect(failure).toMatchObject({ statusCode: 401, isRetryable: false })
  })

  it('that the model fails amid its answer', async () => {
    const failing = streamReply(
      chunk({ content: 'At ' }),
      event({ error: { message: 'overload' } }),
    )
    server.upstream.always(failing)
    const errors: unknown[] = []
    const result = streamText({
      model: agentAt(),
      prompt: QUESTION,
      onError: ({ error }) => void errors.push(error),
    })
    expect((await Array.fromAsync(result.textStream)).join('')).toBe('At ')
    expect(errors.map(String)).toEqual([expect.stringMatching(/model/)])
  })
})

describe('When the AI SDK cancels', () => {
  it('cancels the model’s request, too', async () => {
    server.upstream.always(hangReply())
    const asked = server.upstream.nextRequest()
    const leaving = new AbortController()
    const answer = generateText({
      model: agentAt(),
      prompt: QUESTION,
      abortSignal: leaving.signal,
    })
    const request = await asked
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
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
      model: model(),
      prompt: 'Light, please.',
      tools: { lamp },
      maxRetries: 0,
      stopWhen: stepCountIs(2),
      providerOptions: { openai: { store } },
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

  it('embeds as many texts at once as it sends OpenAI', async () => {
    const values = Array.from({ length: 1_500 }, (_, place) => `Owl ${place % 7} hoots.`)
    const { embeddings } = await embedMany({ model: provider().embedding('any'), values })
    expect(embeddings).toHaveLength(1_500)
    expect(embeddings[1_491]).toEqual(embeddings[0])
  })

  it('streams over chat completions', async () => {
    const asked = { model: provider().chat('agent'), prompt: QUESTION, maxRetries: 0 }
    expect(await streamText(asked).text).toBe('At ten [1].')
  })
})
