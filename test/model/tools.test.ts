import { beforeAll, describe, expect, it } from 'vitest'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { ask } from '../support/chat-reader.ts'
import { NO_TOOLS } from '../support/model/agents.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { startModelRecorder } from '../support/model/model-recorder.ts'
import { isChatCompletions, modelAt, startServer, type TestServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
}
const OTHER = { type: 'function', function: { name: 'tell_joke', parameters: { type: 'object' } } }

/** How small models write a call where they should make one. */
const CALL_AS_TEXT = /<\/?tool_call>|\{\s*"(?:name|function)"\s*:|"arguments"\s*:/

const CHOICES = [
  ['required', 'required'],
  ['chosen by name', { type: 'function', function: { name: 'get_weather' } }],
] as const

const AGENT_CONFIG = await writeAgentFile(NO_TOOLS)

describe.skipIf(isShort)('A model whose template has tools (needs the long form)', () => {
  let server: TestServer
  let withoutOwnTools: TestServer

  beforeAll(async () => {
    const llama = await startLlamaServer({ weights: 'qwen' })
    server = await startServer(modelAt(llama))
    withoutOwnTools = await startServer(modelAt(llama, { AGENT_CONFIG }))
    await server.ingest({ title: 'Library', text: 'The library opens at nine.' })
    return async () => {
      await server.close()
      await withoutOwnTools.close()
      await llama.kill()
    }
  })

  // llama.cpp's server takes neither a choice nor a schema to insist on in Responses and Messages.
  it.runIf(isChatCompletions).each(CHOICES)(
    'makes a call that is %s (needs chat completions)',
    async (_case, tool_choice) => {
      const response = await withoutOwnTools.request('/v1/chat/completions', {
        body: {
          messages: [{ role: 'user', content: 'What is the weather like in Paris?' }],
          tools: tool_choice === 'required' ? [WEATHER] : [OTHER, WEATHER],
          tool_choice,
          stream: false,
        },
      })
      const [choice] = Completion.parse(await response.json()).choices
      expect(choice?.finish_reason).toBe('tool_calls')
      const [call] = choice?.message.tool_calls ?? []
      expect(call?.function.name).toBe('get_weather')
      expect(JSON.parse(call?.function.arguments ?? '')).toHaveProperty('city')
      expect(choice?.message.content ?? '').not.toMatch(CALL_AS_TEXT)
    },
  )

  it.each([
    'Search for "opening hours" with your tool before you answer: when does the library open?',
    'Call semantic_search with the query "library" and tell me what you find.',
    'Which tools could you use? Use one of them now.',
  ])('never shows a call as its answer: %s', async (question) => {
    const { answer, error } = await ask(server, question)
    expect(error).toBeUndefined()
    expect(answer.trim()).not.toBe('')
    expect(answer).not.toMatch(CALL_AS_TEXT)
  })
})

describe('A model whose template drops tools', () => {
  it('gets no tools from the second question on', async () => {
    const recorder = await startModelRecorder(await startLlamaServer())
    const server = await startServer(modelAt(recorder))
    await server.ingest({ title: 'Library', text: 'The library opens at nine.' })
    await ask(server, 'When does the library open?')
    await ask(server, 'When does the library open on Mondays?')
    const { instructions } = recorder.calls.at(-1) ?? {}
    expect(instructions).toContain('passages')
    expect(instructions).not.toMatch(/\btools?\b/i)
  })
})
