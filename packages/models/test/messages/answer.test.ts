import { describe, expect, it } from 'vitest'
import {
  answerReply,
  messageEnd,
  messageStart,
  messagesEvent,
  messagesReply,
  refusalReply,
  textBlock,
} from '../../../../test/support/messages-replies.ts'
import { type ModelMessage, PromptTooLong } from '../../src/chat-model.ts'
import { startModel, TOOL } from '../upstream/model-for-test.ts'

const api = 'messages'

describe('An answer in Messages', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['tool_use', 'stop'],
  ])('that ends with %s is one that ends with %s', async (stopReason, reason) => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.', { stopReason }))
    expect((await ask()).finish?.reason).toBe(reason)
  })

  it('counts what was read from the cache and written to it as part of the prompt', async () => {
    const { upstream, ask } = await startModel({ api })
    const usage = {
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 80,
      output_tokens_details: { thinking_tokens: 4 },
    }
    upstream.script(answerReply('At nine.', { usage }))
    expect((await ask()).finish?.usage).toEqual({
      promptTokens: 991,
      completionTokens: 7,
      cachedTokens: 900,
      cacheWriteTokens: 80,
      reasoningTokens: 4,
    })
  })

  it('may come whole, from a server that does not stream', async () => {
    const { upstream, ask } = await startModel({ api })
    const message = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: TOOL.name, input: { query: 'hours' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 3 },
    }
    upstream.script({
      headers: { 'content-type': 'application/json' },
      steps: [{ send: JSON.stringify(message) }],
    })
    const { text, calls, finish } = await ask({ tools: [TOOL] })
    expect([text, calls.map((call) => call.arguments)]).toEqual(['I look.', ['{"query":"hours"}']])
    expect(finish).toMatchObject({
      reason: 'tool_calls',
      usage: { promptTokens: 5, completionTokens: 3 },
      reasoning: [{ form: 'block', text: 'Hm.', signature: 's' }],
    })
  })

  it('without text says why', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(messagesReply([], { stopReason: 'refusal' }))
    expect((await ask()).finish).toMatchObject({
      reason: 'content_filter',
      emptyBecause: expect.stringContaining('withheld'),
    })
  })

  it('is waited for as long as the server says that it is there', async () => {
    const { upstream, ask } = await startModel({ api, idleTimeoutMs: 400 })
    const pings = Array.from({ length: 5 }, () => [{ pauseMs: 150 }, messagesEvent('ping')]).flat()
    upstream.script({
      steps: [messageStart(), ...pings, ...textBlock(0, 'Nine.'), ...messageEnd()],
    })
    expect((await ask()).text).toBe('Nine.')
    expect(upstream.requests).toHaveLength(1)
  })

  it('ends at once for the server, too, when the caller leaves', async () => {
    const { upstream, ask } = await startModel({ api })
    const controller = new AbortController()
    upstream.script({ steps: [messageStart(), ...textBlock(0, 'At '), { hang: true }] })
    const answer = ask({}, controller.signal)
    const request = await upstream.nextRequest()
    controller.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
    await request.closed
    expect(request.disconnected).toBe(true)
  })

  it('that breaks off with an error says what to do', async () => {
    const { upstream, ask } = await startModel({ api })
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    upstream.script({
      steps: [messageStart(), ...textBlock(0, 'At '), messagesEvent('error', { error })],
    })
    await expect(ask()).rejects.toThrow('overloaded or not ready: try again later')
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('A prompt in Messages', () => {
  it('that is too long is refused with its size and that of the window', async () => {
    const { upstream, ask, model } = await startModel({ api })
    upstream.script(refusalReply(400, 'prompt is too long: 210000 tokens > 200000 maximum'))
    const failure = await ask().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(PromptTooLong)
    expect(failure).toMatchObject({ promptTokens: 210_000, window: 200_000 })
    expect(model.window).toBe(200_000)
  })

  it('that leaves less room than is asked for is answered within that room', async () => {
    const { upstream, ask } = await startModel({ api })
    const words = 'input length and `max_tokens` exceed context limit: 195000 + 32000 > 200000'
    upstream.script(refusalReply(400, words))
    upstream.always(answerReply('At nine.'))
    const long: ModelMessage = { role: 'user', content: 'x'.repeat(10_000) }
    await ask({ messages: [long] })
    await ask()
    const sent = upstream.requests.map(({ body }) => Object(body).max_tokens)
    expect(sent).toEqual([32_000, 5_000, 32_000])
  })

  it('of a model that Anthropic tells of is asked within its limits from the start', async () => {
    const { upstream, ask, model } = await startModel({
      api,
      model: 'claude-haiku-4-5',
      effort: 'low',
    })
    const supported = false
    upstream.tell({
      '/v1/models?limit=1000': {
        data: [
          {
            type: 'model',
            id: 'claude-haiku-4-5-20251001',
            max_input_tokens: 200_000,
            max_tokens: 8_000,
            capabilities: {
              image_input: { supported },
              thinking: { supported: true, types: { adaptive: { supported } } },
            },
          },
        ],
      },
    })
    expect(await model.learnWindow(AbortSignal.timeout(5_000))).toBe(200_000)
    expect(model.supportsImages).toBe(false)
    upstream.script(answerReply('At nine.'))
    await ask()
    expect(upstream.requests[0]?.body).toMatchObject({
      max_tokens: 8_000,
      thinking: { type: 'enabled', budget_tokens: 2_048 },
    })
  })
})
