import type { ModelTool } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../../../src/agent/tools/define-tool.ts'
import { createAgentForTest, endOf, outline, toolAnswering } from './agent-for-test.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

const look = toolAnswering('look', 'I saw it')
const clientTool = (name: string): ModelTool => ({ name, description: '', parameters: {} })

describe('a tool call of the model', () => {
  it('is run, told, and its result goes back to the model', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [
        [toDelta('Let me see. '), ...asks(toolCall('look', { at: 'x' }, 'c1'))],
        says('Done.'),
      ],
    })
    const heard = await events()
    expect(outline(heard)).toEqual([
      'Let me see. ',
      'tool-call: look',
      'tool-result: look',
      '\n\nDone.',
      'end: stop',
    ])
    expect(heard).toContainEqual({
      type: 'tool-call',
      callId: 'c1',
      tool: 'look',
      input: { at: 'x' },
    })
    expect(heard).toContainEqual({
      type: 'tool-result',
      callId: 'c1',
      tool: 'look',
      output: 'I saw it',
      isError: false,
    })
    expect(model.requests[1]?.messages.slice(-2)).toEqual([
      {
        role: 'assistant',
        content: 'Let me see. ',
        toolCalls: [toolCall('look', { at: 'x' }, 'c1')],
      },
      { role: 'tool', callId: 'c1', content: 'I saw it' },
    ])
  })

  it('goes back with what its provider attached', async () => {
    const call = { ...toolCall('look'), attachment: { signature: 'abc' } }
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [asks(call), says('ok')],
    })
    await events()
    expect(model.requests[1]?.messages.at(-2)).toMatchObject({ toolCalls: [call] })
  })

  it('runs beside the others of its round, and their results keep their order', async () => {
    const second = Promise.withResolvers<string>()
    const slow = toolAnswering('slow', () => second.promise)
    const quick = toolAnswering('quick', async () => {
      second.resolve('slow result')
      return 'quick result'
    })
    const { events, model } = createAgentForTest({
      tools: [slow, quick],
      answers: [asks(toolCall('slow'), toolCall('quick')), says('ok')],
    })
    expect(outline(await events())).toEqual([
      'tool-call: slow',
      'tool-call: quick',
      'tool-result: slow',
      'tool-result: quick',
      'ok',
      'end: stop',
    ])
    expect(model.requests[1]?.messages.slice(-2).map(({ content }) => content)).toEqual([
      'slow result',
      'quick result',
    ])
  })

  it.each([
    ['of an unknown tool', toolCall('nothing'), /^There is no tool "nothing"/],
    ['with broken JSON', toolCall('look', '{"at":'), /^The arguments are not valid JSON/],
    ['of a tool that fails', toolCall('broken'), /^The tool failed; see the server log/],
  ])('%s is a result that the model can mend', async (_case, call, output) => {
    const broken = toolAnswering('broken', () => Promise.reject(new Error('hunter2')))
    const { events, model } = createAgentForTest({
      tools: [look, broken],
      answers: [asks(call), says('Never mind.')],
    })
    const heard = await events()
    const result = heard.find(({ type }) => type === 'tool-result')
    expect(result).toMatchObject({ isError: true, output: expect.stringMatching(output) })
    expect(model.requests[1]?.messages.at(-1)?.content).toMatch(output)
    expect(JSON.stringify(heard)).not.toContain('hunter2')
    expect(endOf(heard).reason).toBe('stop')
  })

  it('with broken JSON is told with the text as it came', async () => {
    const { events } = createAgentForTest({
      tools: [look],
      answers: [asks(toolCall('look', '{"at":')), says('ok')],
    })
    expect(await events()).toContainEqual(
      expect.objectContaining({ type: 'tool-call', input: '{"at":' }),
    )
  })

  it('beyond the sixteenth of a round is not run, and the model is told', async () => {
    let runs = 0
    const count = toolAnswering('count', async () => {
      runs += 1
      return 'counted'
    })
    const calls = Array.from({ length: 20 }, (_, index) => toolCall('count', {}, `c${index}`))
    const { events, model } = createAgentForTest({
      tools: [count],
      answers: [asks(...calls), says('ok')],
    })
    const heard = await events()
    expect(runs).toBe(16)
    expect(heard.filter((event) => event.type === 'tool-result' && event.isError)).toHaveLength(4)
    expect(model.requests[1]?.messages.filter(({ role }) => role === 'tool')).toHaveLength(20)
  })
})

describe('tools that the client brings', () => {
  it('are offered beside the server’s, and their calls are given to the client', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [[toDelta('One moment. '), ...asks(toolCall('paint', { colour: 'red' }, 'c1'))]],
    })
    const heard = await events({ clientTools: [clientTool('paint')] })
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'paint'])
    expect(outline(heard)).toEqual(['One moment. ', ['client: paint'], 'end: tool_calls'])
    expect(heard).toContainEqual({
      type: 'client-tool-calls',
      calls: [toolCall('paint', { colour: 'red' }, 'c1')],
    })
  })

  it('come before the server’s where the model calls both, which then run in a later request', async () => {
    let runs = 0
    const count = toolAnswering('count', async () => {
      runs += 1
      return 'counted'
    })
    const { events } = createAgentForTest({
      tools: [count],
      answers: [asks(toolCall('count'), toolCall('paint'), toolCall('paint', {}, 'second'))],
    })
    expect(outline(await events({ clientTools: [clientTool('paint')] }))).toEqual([
      ['client: paint', 'client: paint'],
      'end: tool_calls',
    ])
    expect(runs).toBe(0)
  })

  it('may follow a round of the server’s tools', async () => {
    const { events } = createAgentForTest({
      tools: [look],
      answers: [asks(toolCall('look')), asks(toolCall('paint'))],
    })
    const heard = await events({ clientTools: [clientTool('paint')] })
    expect(outline(heard).slice(-2)).toEqual([['client: paint'], 'end: tool_calls'])
  })

  it('hide a tool of the server that has the same name', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [asks(toolCall('look'))],
    })
    const own = { name: 'look', description: 'mine', parameters: { type: 'object' } }
    expect(outline(await events({ clientTools: [own] }))).toEqual([
      ['client: look'],
      'end: tool_calls',
    ])
    expect(model.requests[0]?.tools).toEqual([own])
  })
})

describe('what the model is offered', () => {
  it('is the name, the description and the JSON Schema of each tool', async () => {
    const tool = defineTool({
      name: 'look',
      title: 'Look',
      description: 'Looks at something',
      input: z.object({ at: z.string().describe('What to look at') }),
      run: async () => '',
    })
    const { events, model } = createAgentForTest({ tools: [tool], answers: [says('ok')] })
    await events()
    expect(model.requests[0]?.tools).toEqual([
      {
        name: 'look',
        description: 'Looks at something',
        parameters: expect.objectContaining({
          type: 'object',
          properties: { at: { type: 'string', description: 'What to look at' } },
          required: ['at'],
        }),
      },
    ])
  })

  it('has no tools and no tool choice if the model does not call tools', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      supportsTools: false,
      answers: [says('ok')],
    })
    await events({ clientTools: [clientTool('paint')], toolChoice: 'required' })
    expect(model.requests[0]?.tools).toEqual([])
    expect(model.requests[0]?.toolChoice).toBeUndefined()
  })

  it('comes with the caller’s choice, for the first call only', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [asks(toolCall('look')), says('ok')],
    })
    await events({ toolChoice: 'required' })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', undefined])
  })

  it('comes with the choice of none to the end, also where the model calls a tool all the same', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [asks(toolCall('look')), says('ok')],
    })
    await events({ toolChoice: 'none' })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['none', 'none'])
  })

  it('has no tool choice without tools', async () => {
    const { events, model } = createAgentForTest({ answers: [says('ok')] })
    await events({ toolChoice: 'auto' })
    expect(model.requests[0]?.toolChoice).toBeUndefined()
  })
})

it('a call whose arguments were cut by the length limit goes back like any broken one', async () => {
  const { events } = createAgentForTest({
    tools: [look],
    answers: [
      [{ type: 'tool-call', call: toolCall('look', '{"at": "some') }, finish('length')],
      says('Shorter, then.'),
    ],
  })
  expect(endOf(await events()).reason).toBe('stop')
})

describe('what a tool knows of its run', () => {
  const sessions: string[] = []
  const tool = (): Tool => ({
    ...toolAnswering('note', ''),
    async run(_input, { sessionId, artifacts }) {
      sessions.push(sessionId)
      await artifacts.add({ name: 'note.txt', mediaType: 'text/plain', bytes: Uint8Array.of(65) })
      return 'noted'
    },
  })
  const start = () =>
    createAgentForTest({ tools: [tool()], answers: [asks(toolCall('note')), says('Done.')] })

  it('is the session as the client names it', async () => {
    await start().events({ sessionId: 'desk-7' })
    expect(sessions.at(-1)).toBe('desk-7')
  })

  it('is a session of its own where the client names none', async () => {
    await start().events()
    await start().events()
    const [last, before] = sessions.toReversed()
    expect(last).toMatch(/^[\w-]{16,}$/)
    expect(last).not.toBe(before)
  })

  it('ends up with the files that it made', async () => {
    const { artifacts } = endOf(await start().events())
    expect(artifacts).toEqual([expect.objectContaining({ name: 'note.txt', size: 1 })])
  })
})
