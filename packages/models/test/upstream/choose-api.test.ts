import { describe, expect, it } from 'vitest'
import { firstApi, nextApi } from '../../src/upstream/choose-api.ts'
import { UpstreamFailure } from '../../src/upstream/failures.ts'

describe('The protocol of a server', () => {
  it.each([
    ['https://api.openai.com/v1', 'responses'],
    ['https://eu.api.openai.com/v1', 'responses'],
    ['https://mine.openai.azure.com/openai/v1/', 'responses'],
    ['https://mine.services.ai.azure.com/openai/v1', 'responses'],
    ['https://mine.openai.azure.com/openai/deployments/mine', 'chat-completions'],
    ['https://api.anthropic.com/v1', 'messages'],
    ['https://api.deepseek.com/anthropic', 'messages'],
    ['https://mine.services.ai.azure.com/anthropic/v1/', 'messages'],
    ['https://gateway.example.org/anthropic-models/v1', 'chat-completions'],
    ['https://openrouter.ai/api/v1', 'chat-completions'],
    ['http://localhost:11434/v1', 'chat-completions'],
    ['https://api.openai.com.example.org/v1', 'chat-completions'],
  ])('at %s is %s, unless one is configured', (baseUrl, api) => {
    expect(firstApi(baseUrl, 'auto')).toBe(api)
    expect(firstApi(baseUrl, 'messages')).toBe('messages')
  })

  const status = (code: number, rawMessage: string, more: object = {}) =>
    new UpstreamFailure({ kind: 'status', status: code, rawMessage, ...more })

  it.each([
    [
      'a refusal that names Responses',
      'chat-completions',
      status(400, 'To use function tools, use /v1/responses'),
      'responses',
    ],
    [
      'a model of Responses alone',
      'chat-completions',
      status(404, 'This model is only supported in v1/responses and not in v1/chat/completions.'),
      'responses',
    ],
    ['any other refusal', 'chat-completions', status(400, 'Invalid value: tools'), undefined],
    [
      'a failure that names Responses',
      'chat-completions',
      status(500, 'v1/responses failed'),
      undefined,
    ],
    ['no such path', 'responses', status(404, 'Not Found'), 'chat-completions'],
    [
      'a web page for it',
      'messages',
      new UpstreamFailure({ kind: 'web-page', status: 404 }),
      'chat-completions',
    ],
    ['no such method', 'responses', status(405, 'Method Not Allowed'), 'chat-completions'],
    [
      'no such model',
      'responses',
      status(404, 'The requested one does not exist', { code: 'model_not_found' }),
      undefined,
    ],
    ['no such model, in words', 'messages', status(404, 'model: claude-x'), undefined],
    ['an overload', 'responses', status(503, 'try later'), undefined],
  ] as const)('after %s in %s is the next', (_case, current, failure, next) => {
    expect(nextApi(current, failure)).toBe(next)
  })
})
