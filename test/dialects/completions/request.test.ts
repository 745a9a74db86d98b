import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { toAgentRequest } from '../../../src/dialects/completions/request.ts'
import { CompletionRequest } from '../../../src/dialects/completions/schema.ts'

const user = { role: 'user', content: 'When?' }

describe('a completion request', () => {
  const convert = (request: object) =>
    toAgentRequest(CompletionRequest.parse({ messages: [user], ...request }), MASTER, {
      defaultTopK: 5,
      modelName: 'desk',
      agents: new Map(),
      chatModel: { name: 'scripted', generates: true, supportsTools: true, supportsImages: true },
    })

  it('has every role in its place', () => {
    const { messages, instructions } = convert({
      messages: [
        { role: 'system', content: 'one' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'tw' },
            { type: 'text', text: 'o' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Wh' },
            { type: 'text', text: 'en?' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
        { role: 'assistant', content: 'At nine.' },
      ],
    })
    expect(instructions).toEqual(['one', 'two'])
    expect(messages).toEqual([
      { role: 'user', content: 'When?' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ callId: 'c1', name: 'look', arguments: '{"a":1}' }],
      },
      { role: 'tool', callId: 'c1', content: 'seen' },
      { role: 'assistant', content: 'At nine.', toolCalls: [] },
    ])
  })

  it.each<[object, object]>([
    [{ temperature: 0 }, { temperature: 0 }],
    [{ top_p: 0.5 }, { topP: 0.5 }],
    [{ max_tokens: 10 }, { maxTokens: 10 }],
    [{ max_completion_tokens: 20 }, { maxTokens: 20 }],
    [{ max_tokens: 10, max_completion_tokens: 20 }, { maxTokens: 20 }],
    [{ stop: 'x' }, { stop: ['x'] }],
    [{ stop: ['x', 'y'] }, { stop: ['x', 'y'] }],
    [{ presence_penalty: -2 }, { presencePenalty: -2 }],
    [{ frequency_penalty: 0 }, { frequencyPenalty: 0 }],
    [{ seed: 0 }, { seed: 0 }],
    [{ response_format: { type: 'json_object' } }, { format: { type: 'json' } }],
    [{ reasoning_effort: 'low' }, { effort: 'low' }],
    [{}, {}],
    [{ temperature: null, stop: null, seed: null, max_tokens: null }, {}],
  ])('with %j samples with %j', (request, sampling) => {
    const set = Object.entries(convert(request).sampling).filter(([, value]) => value !== undefined)
    expect(Object.fromEntries(set)).toEqual(sampling)
  })

  it('brings its tools, each with the least that a model needs', () => {
    const tools = [
      { type: 'function', function: { name: 'paint' } },
      {
        type: 'function',
        function: {
          name: 'sing',
          description: 'Sings',
          parameters: { type: 'object', properties: { a: {} } },
        },
      },
      { type: 'function', function: { name: 'mute', description: null, parameters: null } },
    ]
    expect(convert({ tools }).clientTools).toEqual([
      { name: 'paint', description: '', parameters: { type: 'object', properties: {} } },
      { name: 'sing', description: 'Sings', parameters: { type: 'object', properties: { a: {} } } },
      { name: 'mute', description: '', parameters: { type: 'object', properties: {} } },
    ])
  })

  it.each([
    ['none', 'none'],
    ['auto', 'auto'],
    ['required', 'required'],
    [{ type: 'function', function: { name: 'paint' } }, { name: 'paint' }],
  ])('hands its tool choice on: %j', (tool_choice, expected) => {
    expect(convert({ tool_choice }).toolChoice).toEqual(expected)
  })

  it.each([['any'], [{ type: 'custom', custom: { name: 'paint' } }]])(
    'refuses a tool choice of another protocol: %j',
    (tool_choice) => {
      expect(() => convert({ tool_choice })).toThrow('tool_choice')
    },
  )

  it.each([null, undefined])('has no tool choice where it says %s', (tool_choice) => {
    expect(convert({ tool_choice }).toolChoice).toBeUndefined()
  })

  it.each([
    [undefined, 5],
    [9, 9],
  ])('with topK %s retrieves %i chunks', (topK, chunks) => {
    expect(convert({ topK }).topK).toBe(chunks)
  })
})
