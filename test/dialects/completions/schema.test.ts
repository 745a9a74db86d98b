import { issuesOf as namedIssues } from '@agent-server/schemas/invalid-request.ts'
import { describe, expect, it } from 'vitest'
import { CompletionRequest, toPlain } from '../../../src/dialects/completions/schema.ts'
import { issuesOf, pathsOf } from '../../support/issues-of.ts'

const user = { role: 'user', content: 'When?' }
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const tool = (name: string) => ({ type: 'function', function: { name } })

/** The least request, with other fields. */
const asking = (fields: object) => ({ messages: [user], ...fields })

describe('a completion request', () => {
  it.each<[string, object]>([
    ['the least', {}],
    ['a model, whatever its name', { model: 'gpt-4o' }],
    [
      'null for everything that may be absent',
      {
        stream: null,
        stream_options: null,
        temperature: null,
        top_p: null,
        n: null,
        stop: null,
        max_tokens: null,
        max_completion_tokens: null,
        presence_penalty: null,
        frequency_penalty: null,
        seed: null,
        response_format: null,
        reasoning_effort: null,
        tools: null,
        tool_choice: null,
      },
    ],
    [
      'what LibreChat sends',
      {
        temperature: 1,
        top_p: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        user: '64f',
        stream: true,
      },
    ],
    ['one choice', { n: 1 }],
    ['a stop sequence', { stop: '\n' }],
    ['several stop sequences', { stop: ['a', 'b'] }],
    [
      'tools',
      {
        tools: [
          tool('look_up'),
          {
            type: 'function',
            function: { name: 'x', description: 'd', parameters: { type: 'object' }, strict: true },
          },
        ],
      },
    ],
    ['no tools', { tools: [] }],
    ['a tool choice in a word', { tool_choice: 'required' }],
    ['a tool choice by name', { tool_choice: { type: 'function', function: { name: 'x' } } }],
    ['usage', { stream_options: { include_usage: true, include_obfuscation: false } }],
    [
      'fields that nobody knows',
      { logit_bias: {}, service_tier: 'auto', metadata: {}, 'x-extra': [] },
    ],
  ])('is taken with %s', (_case, fields) => {
    expect(issuesOf(CompletionRequest, asking(fields))).toEqual([])
  })

  it.each<[string, object[]]>([
    [
      'every role',
      [
        { role: 'system', content: 'a' },
        { role: 'developer', content: 'b' },
        user,
        { role: 'assistant', content: 'c', tool_calls: [call] },
        { role: 'tool', content: 'd', tool_call_id: 'call_1' },
      ],
    ],
    [
      'text parts',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    ],
    ['an assistant message without content', [user, { role: 'assistant', tool_calls: [call] }]],
    [
      'an assistant message with null content',
      [user, { role: 'assistant', content: null, tool_calls: null }],
    ],
    [
      'a call without a type',
      [
        user,
        { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'x', arguments: '' } }] },
      ],
    ],
    [
      'a call with broken arguments',
      [
        user,
        {
          role: 'assistant',
          tool_calls: [{ ...call, function: { name: 'x', arguments: '{"a":' } }],
        },
      ],
    ],
    ['names of people', [{ ...user, name: 'Ada' }]],
  ])('is taken with %s among its messages', (_case, messages) => {
    expect(issuesOf(CompletionRequest, { messages })).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['without messages', {}, 'messages'],
    ['without a message', { messages: [] }, 'messages'],
    ['with null for a message', { messages: [null] }, 'messages.0'],
    ['with an unknown role', { messages: [{ role: 'bot', content: 'a' }] }, 'messages.0.role'],
    ['with a user message without content', { messages: [{ role: 'user' }] }, 'messages.0.content'],
    [
      'with null for a user message’s content',
      { messages: [{ role: 'user', content: null }] },
      'messages.0.content',
    ],
    [
      'with a blank question',
      { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] },
      'messages',
    ],
    ['without a question', { messages: [{ role: 'system', content: 'a' }] }, 'messages'],
    [
      'with a tool message without its call',
      { messages: [user, { role: 'tool', content: 'a' }] },
      'messages.1.tool_call_id',
    ],
    [
      'with arguments that are no text',
      {
        messages: [
          user,
          { role: 'assistant', tool_calls: [{ ...call, function: { name: 'x', arguments: {} } }] },
        ],
      },
      'messages.1.tool_calls.0.function.arguments',
    ],
    ['with two choices', asking({ n: 2 }), 'n'],
    ['with a temperature past 2', asking({ temperature: 2.1 }), 'temperature'],
    ['with top_p past 1', asking({ top_p: 1.1 }), 'top_p'],
    ['with a penalty below -2', asking({ presence_penalty: -3 }), 'presence_penalty'],
    ['with no token', asking({ max_tokens: 0 }), 'max_tokens'],
    ['with half a token', asking({ max_completion_tokens: 1.5 }), 'max_completion_tokens'],
    ['with a stop that is no text', asking({ stop: [5] }), 'stop.0'],
    ['with stream in words', asking({ stream: 'true' }), 'stream'],
    ['with a tool without a name', asking({ tools: [tool('')] }), 'tools.0.function.name'],
    [
      'with a tool whose name has a blank',
      asking({ tools: [tool('look up')] }),
      'tools.0.function.name',
    ],
    [
      'with a tool whose name is too long',
      asking({ tools: [tool('a'.repeat(65))] }),
      'tools.0.function.name',
    ],
    [
      'with too many tools',
      asking({ tools: Array.from({ length: 129 }, () => tool('a')) }),
      'tools',
    ],
    ['with topK below 0', asking({ topK: -1 }), 'topK'],
  ])('is refused %s, naming the field', (_case, request, path) => {
    expect(pathsOf(CompletionRequest, request)).toContain(path)
  })

  it.each(['input_audio', 'thinking'])('takes a part of type %s, which is noted', (type) => {
    const content = [
      { type: 'text', text: 'a' },
      { type, data: {} },
    ]
    const { messages } = CompletionRequest.parse({ messages: [{ role: 'user', content }] })
    expect(messages.map(toPlain)).toEqual([
      { role: 'user', content: `a[${type}: not supported here]` },
    ])
  })

  const part = 'must be a part with its type, such as text or image_url'
  it.each<[string, object, string]>([
    ['a part without a type', { content: [{ text: 'hi' }] }, `content.0: ${part}`],
    ['a string for a part', { content: ['hi'] }, `content.0: ${part}`],
    ['content that is none', { content: 5 }, 'content: must be a string or a list of parts'],
    [
      'a call of another type',
      { tool_calls: [{ ...call, type: 'code' }] },
      'tool_calls.0: must be a call of the type function or custom',
    ],
    ['no role', { role: undefined, content: 'hi' }, 'role: is required'],
    [
      'another role',
      { role: 'bot', content: 'hi' },
      'role: must be one of "system", "developer", "user", "assistant", "tool"',
    ],
  ])('is refused with %s, and says what is taken', (_case, fields, words) => {
    const { error } = CompletionRequest.safeParse({
      messages: [{ role: 'assistant', ...fields }, user],
    })
    const [issue] = error ? namedIssues(error) : []
    expect(`${issue?.field}: ${issue?.message}`).toContain(`messages.0.${words}`)
  })

  it('is refused with an image that has no address', () => {
    const messages = [{ role: 'user', content: [{ type: 'image_url' }] }]
    expect(issuesOf(CompletionRequest, { messages })).toEqual([
      'messages.0.content.0.type: must include its text, image_url or file',
    ])
  })

  it.each([{ data: {} }, { file: null }, { file: { filename: 5 } }])(
    'is refused with a file that is none: %j',
    (file) => {
      const messages = [{ role: 'user', content: [{ type: 'file', ...file }] }]
      expect(issuesOf(CompletionRequest, { messages })).toEqual([
        'messages.0.content.0.type: must include its text, image_url or file',
      ])
    },
  )
})

describe('the plain form of a message', () => {
  it.each([
    ['text', { role: 'user' as const, content: 'a' }, 'a'],
    [
      'parts, joined',
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'a' },
          { type: 'text' as const, text: 'b' },
        ],
      },
      'ab',
    ],
    ['null', { role: 'assistant' as const, content: null }, ''],
    ['nothing', { role: 'assistant' as const }, ''],
    ['no parts', { role: 'system' as const, content: [] }, ''],
    ['a refusal', { role: 'assistant' as const, content: null, refusal: 'No.' }, 'No.'],
    [
      'an empty text and a refusal',
      { role: 'assistant' as const, content: '', refusal: 'No.' },
      'No.',
    ],
    ['no parts and a refusal', { role: 'assistant' as const, content: [], refusal: 'No.' }, 'No.'],
    ['a text and a refusal', { role: 'assistant' as const, content: 'a', refusal: 'No.' }, 'a'],
  ])('has the content of %s', (_case, message, content) => {
    expect(toPlain(message)).toEqual({ role: message.role, content })
  })
})
