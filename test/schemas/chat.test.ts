import { describe, expect, it } from 'vitest'
import {
  ChatFrame,
  ChatRequest,
  lastUserText,
  MAX_MESSAGE,
  MAX_MESSAGES,
} from '../../src/schemas/chat.ts'
import { issuesOf, pathsOf } from './issues-of.ts'

const user = (content: unknown) => ({ role: 'user', content })
const question = { messages: [user('When?')] }

describe('a chat request', () => {
  it.each([
    ['the least', question],
    [
      'every role',
      {
        messages: [
          { role: 'system', content: 'Be kind' },
          user('a'),
          { role: 'assistant', content: 'b' },
          user('c'),
        ],
      },
    ],
    [
      'an assistant message at the end',
      { messages: [user('a'), { role: 'assistant', content: '' }] },
    ],
    ['topK at its bounds', { ...question, topK: 100 }],
    ['a message of the greatest length', { messages: [user('a'.repeat(MAX_MESSAGE))] }],
    [
      'the greatest number of messages',
      { messages: Array.from({ length: MAX_MESSAGES }, () => user('a')) },
    ],
    ['fields that nobody knows', { ...question, model: 'x', stream: true, extra: { deep: [] } }],
  ])('is taken with %s', (_case, request) => {
    expect(issuesOf(ChatRequest, request)).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['without messages', {}, 'messages'],
    ['with no message', { messages: [] }, 'messages'],
    [
      'with too many messages',
      { messages: Array.from({ length: MAX_MESSAGES + 1 }, () => user('a')) },
      'messages',
    ],
    ['with null for a message', { messages: [null] }, 'messages.0'],
    ['with a message without a role', { messages: [{ content: 'a' }] }, 'messages.0.role'],
    [
      'with an unknown role',
      { messages: [user('a'), { role: 'tool', content: 'a' }] },
      'messages.1.role',
    ],
    ['with content that is no string', { messages: [user(['a'])] }, 'messages.0.content'],
    [
      'with content past the bound',
      { messages: [user('a'.repeat(MAX_MESSAGE + 1))] },
      'messages.0.content',
    ],
    ['without a user message', { messages: [{ role: 'system', content: 'a' }] }, 'messages'],
    ['with a blank latest user message', { messages: [user('a'), user(' \n')] }, 'messages'],
    ['with topK below 0', { ...question, topK: -1 }, 'topK'],
    ['with topK 101', { ...question, topK: 101 }, 'topK'],
    ['with half a topK', { ...question, topK: 1.5 }, 'topK'],
    ['with topK as a string', { ...question, topK: '5' }, 'topK'],
    ['with includeSteps in words', { ...question, includeSteps: 'yes' }, 'includeSteps'],
  ])('is refused %s, naming the field', (_case, request, path) => {
    expect(new Set(pathsOf(ChatRequest, request))).toEqual(new Set([path]))
  })

  it('streams no steps and leaves topK to the server where nothing is said', () => {
    expect(ChatRequest.parse(question)).toEqual({ ...question, rewrite: true, includeSteps: false })
  })

  it('has its text made storable', () => {
    expect(ChatRequest.parse({ messages: [user('a\ud800\u0000')] }).messages[0]?.content).toBe(
      'a\ufffd ',
    )
  })
})

describe('the latest user text', () => {
  it.each([
    ['the last of several', [user('a'), user('b')], 'b'],
    ['before an answer', [user('a'), { role: 'assistant', content: 'b' }], 'a'],
    ['nothing without one', [{ role: 'system', content: 'a' }], ''],
    ['nothing in nothing', [], ''],
  ])('is %s', (_case, messages, text) => {
    expect(
      lastUserText(messages.map(({ role, content }) => ({ role, content: String(content) }))),
    ).toBe(text)
  })
})

describe('a chat frame', () => {
  const hit = { id: 'c', score: 1, text: 't', title: '', documentId: 'd', start: 0, end: 1 }

  it.each([
    { type: 'text-delta', text: 'a' },
    { type: 'tool-call', callId: '1', tool: 'semantic_search', input: { query: 'a' } },
    { type: 'tool-result', callId: '1', tool: 'semantic_search', output: 'b', isError: false },
    { type: 'done', hits: [hit], finishReason: 'stop' },
    {
      type: 'done',
      hits: [],
      finishReason: 'round_limit',
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    },
    {
      type: 'error',
      error: { message: 'm', type: 'server_error', code: 'internal', param: null, request_id: 'r' },
    },
  ])('may be a $type', (frame) => {
    expect(ChatFrame.parse(frame)).toEqual(frame)
  })

  it('is nothing else', () => {
    expect(pathsOf(ChatFrame, { type: 'thought', text: 'a' })).toEqual(['type'])
  })
})
