import { Agent, fileSearchTool, MemorySession, OpenAIProvider, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelRequest } from '../../support/model-request.ts'
import { TEST_KEY } from '../../support/server.ts'
import { textReply, toolCallReply } from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const server = await startOneServer()

beforeEach(() => server.upstream.always(textReply('At ten [1].')))

/** Runs agents with their default model over Responses, or over chat completions. */
function runner(useResponses = true) {
  const openAIClient = new OpenAI({ baseURL: server.baseURL, apiKey: TEST_KEY, maxRetries: 0 })
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses })
  return new Runner({ modelProvider, tracingDisabled: true })
}

const lamp = tool({
  name: 'lamp',
  description: 'Switches the lamp.',
  parameters: z.object({ on: z.boolean() }),
  execute: async ({ on }) => `the lamp is ${on ? 'on' : 'off'}`,
})
const librarian = new Agent({ name: 'Librarian', instructions: 'Be brief.' })
const lampist = new Agent({ name: 'Lampist', instructions: 'Be brief.', tools: [lamp] })

const callLamp = () =>
  server.upstream.script(
    toolCallReply({ name: 'lamp', arguments: { on: true } }),
    textReply('The lamp is on.'),
  )

async function streamed(agent: Agent, input: string, useResponses = true) {
  const result = await runner(useResponses).run(agent, input, { stream: true })
  let text = ''
  for await (const event of result) {
    if (event.type !== 'raw_model_stream_event') continue
    if (event.data.type === 'output_text_delta') text += event.data.delta
  }
  return { text, result }
}

/** The roles of what the model was sent last. */
const rolesSent = () =>
  modelRequest(server.upstream.requests.at(-1)).messages.map(({ role }) => role)

describe.each([
  ['Responses', true],
  ['chat completions', false],
])('@openai/agents over %s', (_name, useResponses) => {
  it('answers, plain and streamed', async () => {
    const plain = await runner(useResponses).run(librarian, QUESTION)
    expect(plain.finalOutput).toBe('At ten [1].')
    const { text, result } = await streamed(librarian, QUESTION, useResponses)
    expect(text).toBe('At ten [1].')
    expect(result.finalOutput).toBe('At ten [1].')
  })

  it('runs its tools to an answer, plain and streamed', async () => {
    callLamp()
    const plain = await runner(useResponses).run(lampist, 'Light, please.')
    expect(plain.finalOutput).toBe('The lamp is on.')
    expect(rolesSent()).toContain('tool')
    callLamp()
    const { result } = await streamed(lampist, 'Light, please.', useResponses)
    expect(result.finalOutput).toBe('The lamp is on.')
  })
})

describe('@openai/agents', () => {
  it('goes on from a response, with the history, and with a session', async () => {
    const first = await runner().run(librarian, QUESTION)
    const previousResponseId = first.lastResponseId
    if (!previousResponseId) throw new Error('The response has no id')
    await runner().run(librarian, 'And on Sundays?', { previousResponseId })
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'user'])
    const again = { role: 'user' as const, content: 'And on Mondays?' }
    await runner().run(librarian, [...first.history, again])
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'user'])
    const session = new MemorySession()
    await runner().run(librarian, QUESTION, { session })
    await runner().run(librarian, 'And on Sundays?', { session })
    expect(rolesSent()).toEqual(['system', 'user', 'assistant', 'user'])
  })

  it('reads what an answer cites, and what file search found', async () => {
    const include = { includeSearchResults: true, maxNumResults: 1 }
    const tools = [fileSearchTool('vs_birds', include)]
    const searching = new Agent({ name: 'Birder', instructions: 'Be brief.', tools })
    const { output } = await runner().run(searching, 'What do owls do at night?')
    const found = JSON.stringify(output.find(({ type }) => type === 'hosted_tool_call'))
    expect(found).toContain('Owls hunt at night.')
    expect(found).not.toContain('Opening hours')
    expect(JSON.stringify(output.at(-1))).toMatch(/"file_citation".*"filename":"Owls"/)
  })
})
