import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Completion, CompletionChunk } from '../../../src/schemas/openai/completion.ts'
import { TEST_KEY } from '../../support/server.ts'
import {
  chunk,
  event,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../../support/upstream-replies.ts'
import { QUESTION, startTwoServers, type TwoServers } from './two-servers.ts'

let servers: TwoServers

beforeAll(async () => {
  servers = await startTwoServers()
  return servers.close
})

beforeEach(() => servers.upstream.always(textReply('At ten [1].')))

/** The agent of a server as a model. `generateText` says nothing of `stream`, so the provider must. */
function agentAt(baseURL: string, apiKey = TEST_KEY) {
  const provider = createOpenAICompatible({
    name: 'agent-server',
    baseURL,
    apiKey,
    includeUsage: true,
    transformRequestBody: (body) => ({ stream: false, ...body }),
  })
  return provider.chatModel('agent')
}

const lamp = tool({
  description: 'Switches the lamp.',
  inputSchema: z.object({ on: z.boolean() }),
  execute: ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
})

describe('The AI SDK', () => {
  it('generates a text, with what it cites and its usage', async () => {
    const result = await generateText({
      model: agentAt(servers.extractive),
      prompt: QUESTION,
      include: { responseBody: true },
    })
    expect(result.text).toContain('On Saturdays it opens at ten. [1]')
    expect(result.finishReason).toBe('stop')
    expect(result.usage.totalTokens).toBeGreaterThan(10)
    expect(Completion.parse(result.response.body).agent.hits[0]?.title).toBe('Opening hours')
  })

  it('streams a text, with what it cites and its usage', async () => {
    const result = streamText({
      model: agentAt(servers.extractive),
      prompt: QUESTION,
      include: { rawChunks: true },
    })
    const parts = await Array.fromAsync(result.fullStream)
    const raw = parts.flatMap((part) => (part.type === 'raw' ? [part.rawValue] : []))
    const hits = raw.flatMap((value) => CompletionChunk.parse(value).agent?.hits ?? [])
    expect(await result.text).toContain('On Saturdays it opens at ten. [1]')
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).totalTokens).toBeGreaterThan(10)
    expect(hits[0]?.title).toBe('Opening hours')
  })

  it.each(['plain', 'streamed'])('runs its own tools to an answer, %s', async (how) => {
    servers.upstream.script(
      toolCallReply({ name: 'lamp', arguments: { on: true } }),
      textReply('The lamp is on.'),
    )
    const options = {
      model: agentAt(servers.modelled),
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

describe('The AI SDK is told', () => {
  it('of a wrong key', async () => {
    const model = agentAt(servers.extractive, 'a-key-that-is-not-right')
    const failure = await generateText({ model, prompt: QUESTION }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(APICallError)
    expect(failure).toMatchObject({ statusCode: 401, isRetryable: false })
  })

  it('that the model fails amid its answer', async () => {
    const failing = streamReply(
      chunk({ content: 'At ' }),
      event({ error: { message: 'overload' } }),
    )
    servers.upstream.always(failing)
    const errors: unknown[] = []
    const result = streamText({
      model: agentAt(servers.modelled),
      prompt: QUESTION,
      onError: ({ error }) => void errors.push(error),
    })
    expect((await Array.fromAsync(result.textStream)).join('')).toBe('At ')
    expect(errors.map(String)).toEqual([expect.stringMatching(/model/)])
  })
})

describe('When the AI SDK leaves', () => {
  it('the model is left, too', async () => {
    servers.upstream.always(hangReply())
    const asked = servers.upstream.nextRequest()
    const leaving = new AbortController()
    const answer = generateText({
      model: agentAt(servers.modelled),
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
