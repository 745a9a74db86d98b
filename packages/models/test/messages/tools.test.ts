import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import {
  answerReply,
  block,
  messagesReply,
  refusalReply,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../../../test/support/messages-replies.ts'
import { question, startModel, TOOL } from '../upstream/model-for-test.ts'
import { ASKED, afterCall } from './conversation.ts'

const api = 'messages'

describe('The tools of a request in Messages', () => {
  it('are called, several at once, with their arguments whole', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(
      messagesReply(
        [
          ...textBlock(0, 'I look.'),
          ...toolBlock(1, 'toolu_1', TOOL.name, { query: 'opening "hours"' }),
          ...toolBlock(2, 'toolu_2', TOOL.name, {}),
        ],
        { stopReason: 'tool_use' },
      ),
    )
    const { text, calls, finish } = await ask({ tools: [TOOL], toolChoice: { name: TOOL.name } })
    expect(text).toBe('I look.')
    expect(calls).toEqual([
      { callId: 'toolu_1', name: TOOL.name, arguments: '{"query":"opening \\"hours\\""}' },
      { callId: 'toolu_2', name: TOOL.name, arguments: '{}' },
    ])
    expect(finish?.reason).toBe('tool_calls')
    expect(upstream.requests[0]?.body).toMatchObject({
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
      tool_choice: { type: 'tool', name: TOOL.name },
    })
  })

  it('have their results together in one turn, before any text', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    const calls = ['functions.search:0', 'b'].map((callId) => ({
      callId,
      name: 'search.documents',
      arguments: callId === 'b' ? 'not JSON' : '{"query":"hours"}',
    }))
    await ask({
      tools: [TOOL],
      messages: [
        ASKED,
        { role: 'assistant', content: '', toolCalls: calls },
        { role: 'tool', callId: 'functions.search:0', content: 'Open from 9' },
        { role: 'system', content: 'Be brief.' },
        { role: 'tool', callId: 'b', content: '' },
        { role: 'tool', callId: 'lost', content: 'Closed' },
      ],
    })
    expect(upstream.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'functions_search_0',
              name: 'search_documents',
              input: { query: 'hours' },
            },
            { type: 'tool_use', id: 'b', name: 'search_documents', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'functions_search_0', content: 'Open from 9' },
            { type: 'tool_result', tool_use_id: 'b', content: 'There is no result.' },
            { type: 'text', text: 'Be brief.' },
            { type: 'text', text: 'Result of a tool: Closed' },
          ],
        },
      ],
    })
  })

  it('without a result are sent with a placeholder, and the conversation ends with the user', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    const [, call] = afterCall()
    if (!call) throw new Error('There is no call')
    await ask({ tools: [TOOL], messages: [ASKED, call, { role: 'assistant', content: 'Hm.' }] })
    expect(upstream.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'user', content: [{ tool_use_id: 'toolu_1', content: 'There is no result.' }] },
        { role: 'assistant', content: 'Hm.' },
        { role: 'user', content: [{ text: 'Continue.' }] },
      ],
    })
  })

  it('are sent as text if no tool is offered any more', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    await ask({ messages: afterCall() })
    const sent = JSON.stringify(upstream.requests[0]?.body)
    expect(sent).toContain('Result of a tool: Open from 9')
    expect(sent).not.toMatch(/tool_use|tool_result|thinking|"tools"/)
  })

  it('take alternatives at the top of a schema as words', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    const parameters = { properties: { a: {} }, anyOf: [{ required: ['a'] }] }
    await ask({ tools: [{ name: 'x', description: ' ', parameters }] })
    expect(upstream.requests[0]?.body).toMatchObject({
      tools: [
        {
          name: 'x',
          input_schema: {
            type: 'object',
            properties: { a: {} },
            description: '{"anyOf":[{"required":["a"]}]}',
          },
        },
      ],
    })
  })
})

describe('Reasoning in Messages', () => {
  it('is shown, and goes back unchanged before the calls, in its own form alone', async () => {
    const { upstream, ask, model } = await startModel({ api })
    upstream.script(
      messagesReply(
        [
          ...thinkingBlock(0, 'They ask for the hours.', 'c2lnbmF0dXJl'),
          ...block(1, { type: 'redacted_thinking', data: 'aGlkZGVu' }),
          ...toolBlock(2, 'toolu_1', TOOL.name, { query: 'hours' }),
        ],
        { stopReason: 'tool_use' },
      ),
      answerReply('At nine.'),
    )
    const events = await Array.fromAsync(
      eachEvent(model.stream(question({ tools: [TOOL] }), AbortSignal.timeout(5_000))),
    )
    const thought = events.flatMap((each) => (each.type === 'reasoning-delta' ? each.text : []))
    expect(thought.join('')).toBe('They ask for the hours.')
    const finish = events.at(-1)
    const reasoning = finish?.type === 'finish' ? finish.reasoning : undefined
    expect(reasoning).toEqual([
      { form: 'block', text: 'They ask for the hours.', signature: 'c2lnbmF0dXJl' },
      { form: 'block', signature: 'aGlkZGVu' },
    ])
    await ask({ messages: afterCall(), tools: [TOOL] })
    expect(upstream.requests[1]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'The hours, then.', signature: 'c2lnbmVk' },
            { type: 'redacted_thinking', data: 'aGlkZGVu' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1' },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result' }] },
      ],
    })
    expect(JSON.stringify(upstream.requests[1]?.body)).not.toContain('another provider')
  })

  it('is not sent back where the server does not accept its signature', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(
      refusalReply(400, 'messages.1.content.0: Invalid `signature` in `thinking` block'),
      answerReply('At nine.'),
    )
    expect((await ask({ messages: afterCall(), tools: [TOOL] })).text).toBe('At nine.')
    expect(JSON.stringify(upstream.requests[1]?.body)).not.toContain('thinking')
  })
})
