import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
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

function agentAt(baseURL: string, apiKey = TEST_KEY) {
  const options = { model: 'agent', apiKey, maxRetries: 0, configuration: { baseURL } }
  return new ChatOpenAI({ ...options, __includeRawResponse: true })
}

const lamp = tool(({ on }) => `the lamp is ${on ? 'on' : 'off'}`, {
  name: 'lamp',
  description: 'Switches the lamp.',
  schema: z.object({ on: z.boolean() }),
})

describe('LangChain', () => {
  it('invokes the agent, and is given what it cites and its usage', async () => {
    const message = await agentAt(servers.extractive).invoke(QUESTION)
    expect(message.text).toContain('On Saturdays it opens at ten. [1]')
    expect(message.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) })
    const raw = Completion.parse(message.additional_kwargs.__raw_response)
    expect(raw.agent.hits[0]?.title).toBe('Opening hours')
  })

  it('streams the agent, and is given its usage', async () => {
    const stream = await agentAt(servers.extractive).stream(QUESTION)
    const whole = (await Array.fromAsync(stream)).reduce((sum, part) => sum.concat(part))
    expect(whole.text).toContain('On Saturdays it opens at ten. [1]')
    expect(whole.usage_metadata).toMatchObject({ total_tokens: expect.any(Number) })
  })

  // It drops every chunk without choices.
  it('is given what a streamed answer cites', async () => {
    const stream = await agentAt(servers.extractive).stream(QUESTION)
    const hits = (await Array.fromAsync(stream))
      .map(({ additional_kwargs }) => CompletionChunk.safeParse(additional_kwargs.__raw_response))
      .flatMap(({ data }) => data?.agent?.hits ?? [])
    expect(hits[0]?.title).toBe('Opening hours')
  })

  it.each(['invoke', 'stream'] as const)('is given its own tools to call by %s', async (how) => {
    servers.upstream.always(toolCallReply({ name: 'lamp', arguments: { on: true } }))
    const model = agentAt(servers.modelled).bindTools([lamp])
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

    servers.upstream.always(textReply('The lamp is on.'))
    const answer = await model.invoke([
      { role: 'user', content: 'Light, please.' },
      message,
      result,
    ])
    expect(answer.text).toBe('The lamp is on.')
  })
})

describe('LangChain is told', () => {
  it('of a wrong key', async () => {
    const asked = agentAt(servers.extractive, 'a-key-that-is-not-right').invoke(QUESTION)
    await expect(asked).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('that the model fails amid its answer', async () => {
    const failing = streamReply(
      chunk({ content: 'At ' }),
      event({ error: { message: 'overload' } }),
    )
    servers.upstream.always(failing)
    const stream = await agentAt(servers.modelled).stream(QUESTION)
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'upstream_failed' })
  })
})

describe('When LangChain leaves', () => {
  it('the model is left, too', async () => {
    servers.upstream.always(hangReply())
    const asked = servers.upstream.nextRequest()
    const leaving = new AbortController()
    const answer = agentAt(servers.modelled).invoke(QUESTION, { signal: leaving.signal })
    const request = await asked
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await request.closed
    expect(request.disconnected).toBe(true)
  })
})
