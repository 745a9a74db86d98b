import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TEST_KEY } from '../../support/server.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const server = await startOneServer()
const models = {
  'the URL of a model': {
    id: 'agent-server/agent' as const,
    url: server.baseURL,
    apiKey: TEST_KEY,
  },
  'the provider of OpenAI': createOpenAI({ baseURL: server.baseURL, apiKey: TEST_KEY })('agent'),
}

beforeEach(() => server.upstream.always(textReply('At ten [1].')))

const lamp = createTool({
  id: 'lamp',
  description: 'Switches the lamp.',
  inputSchema: z.object({ on: z.boolean() }),
  execute: async ({ on }) => (on ? 'the lamp is on' : 'the lamp is off'),
})

describe.each(Object.entries(models))('An agent of Mastra with %s', (_name, model) => {
  const agent = new Agent({
    id: 'asking',
    name: 'Asking',
    instructions: 'Be brief.',
    // @ts-expect-error Mastra's copy of the provider's types is of another version.
    model,
    tools: { lamp },
  })

  it('answers, plain and streamed', async () => {
    expect((await agent.generate(QUESTION)).text).toBe('At ten [1].')
    const { textStream } = await agent.stream(QUESTION)
    expect((await Array.fromAsync(textStream)).join('')).toBe('At ten [1].')
  })

  it('runs its tools to an answer, plain and streamed', async () => {
    const script = () =>
      server.upstream.script(
        toolCallReply({ name: 'lamp', arguments: { on: true } }),
        textReply('The lamp is on.'),
      )
    script()
    const plain = await agent.generate('Light, please.')
    expect(plain.text).toBe('The lamp is on.')
    expect(plain.toolResults).toMatchObject([{ payload: { result: 'the lamp is on' } }])
    script()
    const streamed = await agent.stream('Light, please.')
    expect(await streamed.text).toBe('The lamp is on.')
  })
})

it('reads what an answer cites', async () => {
  const model = models['the provider of OpenAI']
  // @ts-expect-error As above.
  const agent = new Agent({ id: 'citing', name: 'Citing', instructions: 'Be brief.', model })
  const { sources } = await agent.generate(QUESTION)
  expect(JSON.stringify(sources)).toContain('Opening hours')
})
