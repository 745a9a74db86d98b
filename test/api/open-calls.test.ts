import { describe, expect, it } from 'vitest'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
upstream.always(textReply('Fine.'))

interface Sent {
  messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[]
}

/** Whether each call has its result right after it, and each result its call, as OpenAI demands. */
function isWhole({ messages }: Sent): boolean {
  return messages.every(({ role, tool_call_id: id, tool_calls: calls = [] }, at) => {
    const after = messages.slice(at + 1, at + 1 + calls.length).map((each) => each.tool_call_id)
    const before = messages.slice(0, at).findLast((each) => each.tool_calls)?.tool_calls ?? []
    const hasCall = role !== 'tool' || before.some((call) => call.id === id)
    return hasCall && calls.every((call) => after.includes(call.id))
  })
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'w', arguments: '{}' } })
const tools = [{ type: 'function', function: { name: 'w', parameters: { type: 'object' } } }]
const ask = { role: 'user', content: 'Hello?' }
const again = { role: 'user', content: 'And now?' }
const use = (id: string) => ({ type: 'tool_use', id, name: 'w', input: {} })
const item = (call_id: string) => ({ type: 'function_call', call_id, name: 'w', arguments: '{}' })

describe('A history with calls that have no result is answered:', () => {
  it.each<[string, string, object]>([
    [
      'one of two, in completions',
      '/v1/chat/completions',
      {
        tools,
        messages: [
          ask,
          { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
          { role: 'tool', tool_call_id: 'a', content: 'sun' },
          again,
        ],
      },
    ],
    [
      'results out of place, in completions',
      '/v1/chat/completions',
      {
        tools,
        messages: [
          ask,
          { role: 'assistant', content: '', tool_calls: [call('a')] },
          again,
          { role: 'tool', tool_call_id: 'a', content: 'sun' },
        ],
      },
    ],
    [
      'a result without its call, in completions',
      '/v1/chat/completions',
      { messages: [{ role: 'tool', tool_call_id: 'gone', content: 'sun' }, ask] },
    ],
    [
      'the same id twice, in completions',
      '/v1/chat/completions',
      {
        tools,
        messages: [
          ask,
          { role: 'assistant', content: '', tool_calls: [call('a')] },
          { role: 'tool', tool_call_id: 'a', content: 'sun' },
          { role: 'assistant', content: '', tool_calls: [call('a')] },
          again,
        ],
      },
    ],
    [
      'in responses',
      '/v1/responses',
      {
        input: [
          ask,
          item('a'),
          item('b'),
          { type: 'function_call_output', call_id: 'b', output: 'x' },
          again,
        ],
      },
    ],
    [
      'in Anthropic’s messages',
      '/v1/messages',
      {
        max_tokens: 100,
        messages: [
          ask,
          { role: 'assistant', content: [use('a'), use('b')] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'b', content: 'x' },
              { type: 'text', text: 'And?' },
            ],
          },
        ],
      },
    ],
    [
      'in Ollama’s chat',
      '/api/chat',
      {
        model: 'agent',
        messages: [
          ask,
          { role: 'assistant', tool_calls: [{ function: { name: 'w', arguments: {} } }] },
          again,
        ],
      },
    ],
  ])('%s', async (_case, path, body) => {
    const response = await server.request(path, {
      body: { model: 'agent', stream: false, ...body },
    })
    expect(response.status).toBe(200)
    // A scripted server records what it was sent as it stands.
    expect(isWhole(upstream.requests.at(-1)?.body as Sent)).toBe(true)
  })
})
