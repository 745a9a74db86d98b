import { describe, expect, it } from 'vitest'
import { describeChatModel } from '../../../../test/contracts/chat-model.contract.ts'
import { eachEvent } from '../../../../test/support/batches.ts'
import { responseReply, responsesErrorReply } from '../../../../test/support/responses-replies.ts'
import { errorReply, jsonReply, textReply } from '../../../../test/support/upstream-replies.ts'
import type { ModelEvent, ReasoningPart } from '../../src/chat-model.ts'
import { question, startModel, TOOL } from '../upstream/model-for-test.ts'

const never = new AbortController().signal
const start = () => startModel({ api: 'responses' })
const bodyOf = (request: { body: unknown } | undefined) => JSON.parse(JSON.stringify(request?.body))

describeChatModel('A model behind Responses', {
  async create() {
    const { upstream, model } = await start()
    upstream.always(responseReply({ texts: ['At ', 'nine.'], gapMs: 20 }))
    return { model, request: question() }
  },
})

describe('A request over Responses', () => {
  it('keeps nothing at the provider, and asks for encrypted reasoning', async () => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['At nine.'] }))
    const { text, finish } = await ask({
      messages: [
        { role: 'system', content: 'Answer from the documents.' },
        { role: 'user', content: 'When?' },
      ],
      sampling: { temperature: 0.2, topP: 0.9, maxTokens: 50, effort: 'low' },
      cacheKey: 'agent-1',
    })
    expect(text).toBe('At nine.')
    expect(finish).toMatchObject({
      reason: 'stop',
      usage: { promptTokens: 58, completionTokens: 9, cachedTokens: 40, reasoningTokens: 4 },
    })
    expect(upstream.requests[0]?.path).toBe('/v1/responses')
    expect(bodyOf(upstream.requests[0])).toEqual({
      model: 'test-model',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      instructions: 'Answer from the documents.',
      input: [{ role: 'user', content: 'When?' }],
      temperature: 0.2,
      top_p: 0.9,
      max_output_tokens: 50,
      reasoning: { summary: 'auto', effort: 'low' },
      prompt_cache_key: 'agent-1',
    })
  })

  it('asks for JSON by its schema', async () => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['{"hour":9}'] }))
    const schema = { type: 'object', properties: { hour: { type: 'integer' } } }
    const format = { type: 'json-schema' as const, name: 'hours', schema, strict: false }
    expect((await ask({ sampling: { format } })).text).toBe('{"hour":9}')
    expect(bodyOf(upstream.requests[0]).text).toEqual({
      format: { type: 'json_schema', name: 'hours', schema, strict: false },
    })
  })

  it('shows images', async () => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['A cat.'] }))
    const images = [{ url: 'data:image/png;base64,AAAA', detail: 'low' }]
    await ask({ messages: [{ role: 'user', content: '[image] What is it?', images }] })
    expect(bodyOf(upstream.requests[0]).input[0].content).toEqual([
      { type: 'input_text', text: '[image] What is it?' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
    ])
  })

  it.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ name: TOOL.name }, { type: 'function', name: TOOL.name }],
  ] as const)('makes the tool choice %j', async (toolChoice, sent) => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ calls: [{ name: TOOL.name, args: '{}' }] }))
    await ask({ tools: [TOOL], toolChoice })
    expect(bodyOf(upstream.requests[0])).toMatchObject({
      tool_choice: sent,
      tools: [{ type: 'function', ...TOOL, strict: false }],
    })
  })
})

describe('An answer over Responses', () => {
  it('calls several tools, and gets its encrypted reasoning back with their results', async () => {
    const { upstream, ask } = await start()
    const reasoning = [{ id: 'rs_1', data: 'gAAAA', summary: ['Look it up.'] }]
    const calls = [
      { id: 'call_1', name: TOOL.name, args: '{"query":"hours"}' },
      { id: 'call_2', name: TOOL.name, args: '{"query":"fees"}' },
    ]
    upstream.script(responseReply({ reasoning, calls }), responseReply({ texts: ['At nine.'] }))
    const first = await ask({ tools: [TOOL] })
    expect(first.calls).toEqual(
      calls.map(({ id, name, args }) => ({ callId: id, name, arguments: args })),
    )
    expect(first.finish?.reason).toBe('tool_calls')
    await ask({
      tools: [TOOL],
      messages: [
        ...question().messages,
        {
          role: 'assistant',
          content: first.text,
          toolCalls: first.calls,
          reasoning: first.finish?.reasoning,
        },
        ...first.calls.map(({ callId }) => ({ role: 'tool' as const, callId, content: 'nine' })),
      ],
    })
    expect(bodyOf(upstream.requests[1]).input).toEqual([
      { role: 'user', content: 'When does the library open?' },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gAAAA',
        summary: [{ type: 'summary_text', text: 'Look it up.' }],
      },
      ...calls.map(({ id, name, args }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: args,
      })),
      { type: 'function_call_output', call_id: 'call_1', output: 'nine' },
      { type: 'function_call_output', call_id: 'call_2', output: 'nine' },
    ])
  })

  it('is sent no reasoning of another provider', async () => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['At nine.'] }))
    const reasoning: ReasoningPart[] = [
      { form: 'content', text: 'Hm.' },
      { form: 'block', text: 'Hm.', signature: 'abc' },
    ]
    const toolCalls = [{ callId: 'call_1', name: TOOL.name, arguments: '{}' }]
    await ask({
      messages: [
        ...question().messages,
        { role: 'assistant', content: '', toolCalls, reasoning },
        { role: 'tool', callId: 'call_1', content: 'nine' },
      ],
    })
    const types = bodyOf(upstream.requests[0]).input.map((item: { type?: string }) => item.type)
    expect(types).toEqual([undefined, 'function_call', 'function_call_output'])
  })

  it('shows summaries of its reasoning as such, never as the answer', async () => {
    const { upstream, model } = await start()
    upstream.script(
      responseReply({
        reasoning: [{ id: 'rs_1', data: 'gAAAA', summary: ['First this.', 'Then that.'] }],
        texts: ['At nine.'],
      }),
    )
    const events = await Array.fromAsync(eachEvent(model.stream(question(), never)))
    expect(textOf(events, 'reasoning-delta')).toBe('First this.\n\nThen that.')
    expect(textOf(events, 'text-delta')).toBe('At nine.')
    expect(model.reasoning).toBe('summary')
  })

  it('ends at a stop sequence, which the protocol has no field for', async () => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['One, tw', 'o, EN', 'D three.'] }))
    const { text, finish } = await ask({ sampling: { stop: ['END'] } })
    expect(text).toBe('One, two, ')
    expect(finish?.reason).toBe('stop')
  })

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('that is incomplete for %s ends with %s', async (incomplete, reason) => {
    const { upstream, ask } = await start()
    upstream.script(responseReply({ texts: ['At'], incomplete }))
    expect((await ask()).finish?.reason).toBe(reason)
  })

  it.each([
    ['response.failed', 'failed' as const],
    ['an error event', 'event' as const],
    ['a cut connection', 'cut' as const],
  ])('fails in mid-stream by %s, after the text that came before', async (_case, way) => {
    const { upstream, model } = await start()
    upstream.script(responsesErrorReply(way))
    const events = eachEvent(model.stream(question(), never))
    expect(await events.next()).toMatchObject({ value: { type: 'text-delta', text: 'At' } })
    await expect(events.next()).rejects.toMatchObject({ code: expect.stringMatching('^upstream_') })
    expect(upstream.requests).toHaveLength(1)
  })

  it('ends with the caller, at the server too', async () => {
    const { upstream, model } = await start()
    upstream.script(responseReply({ texts: ['At ', 'nine.', ' Not', ' later.'], gapMs: 200 }))
    const controller = new AbortController()
    const events = eachEvent(model.stream(question(), controller.signal))
    await events.next()
    controller.abort(new Error('left'))
    await expect(Array.fromAsync(events)).rejects.toThrow('left')
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.disconnected).toBe(true)
  })

  it('says that a question is too long, with the size of the window', async () => {
    const { upstream, model, ask } = await start()
    const message =
      'Your input exceeds the context window of this model. The maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.'
    upstream.script(jsonReply({ error: { message, code: 'context_length_exceeded' } }, 400))
    await expect(ask()).rejects.toMatchObject({ code: 'context_length_exceeded', window: 8192 })
    expect(model.window).toBe(8192)
  })
})

describe('The protocol', () => {
  const REFUSAL =
    "Function tools with reasoning_effort are not supported for gpt-6.1-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."

  it('is changed to Responses where a refusal names it, for the same question and from then on', async () => {
    const { upstream, model, logged, ask } = await startModel()
    upstream.script(errorReply(400, REFUSAL), responseReply({ texts: ['At nine.'] }))
    upstream.always(responseReply({ texts: ['At ten.'] }))
    expect((await ask({ tools: [TOOL] })).text).toBe('At nine.')
    expect((await ask({ tools: [TOOL] })).text).toBe('At ten.')
    const paths = upstream.requests.map(({ path }) => path)
    expect(paths).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses'])
    expect(model.api).toBe('responses')
    expect(model.refused).toEqual(['chat-completions: it is asked in responses from now on'])
    expect(logged.map(({ message }) => message)).toEqual([
      expect.stringMatching(/refuses chat-completions: it is asked in responses from now on/),
    ])
  })

  it('stays as configured, without the effort that the refusal names', async () => {
    const { upstream, ask } = await startModel({ api: 'chat-completions', effort: 'high' })
    upstream.script(errorReply(400, REFUSAL), textReply('At nine.'))
    expect((await ask({ tools: [TOOL] })).text).toBe('At nine.')
    const efforts = upstream.requests.map((request) => bodyOf(request).reasoning_effort)
    expect(efforts).toEqual(['high', 'none'])
  })

  it.each([404, 405, 501])(
    'is changed back where the server has no Responses (%i)',
    async (status) => {
      const { upstream, model, ask } = await startModel()
      const refused = errorReply(400, REFUSAL)
      upstream.script(refused, errorReply(status, 'Not Found'), refused, textReply('At nine.'))
      upstream.always(textReply('At ten.'))
      expect((await ask({ tools: [TOOL] })).text).toBe('At nine.')
      expect((await ask({ tools: [TOOL] })).text).toBe('At ten.')
      expect(model.api).toBe('chat-completions')
      expect(upstream.requests).toHaveLength(5)
      expect(bodyOf(upstream.requests[4]).reasoning_effort).toBe('none')
    },
  )

  it.each([
    ['the model does not support tools'],
    ['This model does not support image input'],
    ['Conversation roles must alternate user/assistant/user/assistant/…'],
  ])('is followed without what is refused: %s', async (words) => {
    const { upstream, model, ask } = await start()
    upstream.script(errorReply(400, words), responseReply({ texts: ['At nine.'] }))
    const images = [{ url: 'data:image/png;base64,AAAA' }]
    const messages = [
      { role: 'system' as const, content: 'Answer shortly.' },
      { role: 'user' as const, content: 'One.' },
      { role: 'user' as const, content: '[image]', images },
    ]
    expect((await ask({ messages, tools: [TOOL] })).text).toBe('At nine.')
    expect(model.refused).toHaveLength(1)
    expect(bodyOf(upstream.requests[1])).not.toEqual(bodyOf(upstream.requests[0]))
  })

  it.each([
    [
      'reasoning.summary',
      'Your organization must be verified to generate reasoning summaries.',
      'reasoning',
    ],
    ['include', 'Encrypted content is not supported with this model.', 'include'],
  ])('leaves %s out where it is refused', async (param, message, field) => {
    const { upstream, ask } = await start()
    upstream.script(jsonReply({ error: { message, param } }, 400))
    upstream.always(responseReply({ texts: ['At nine.'] }))
    expect((await ask()).text).toBe('At nine.')
    expect(bodyOf(upstream.requests[1])[field] ?? {}).toEqual({})
  })
})

function textOf(events: readonly ModelEvent[], type: 'text-delta' | 'reasoning-delta'): string {
  return events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
}
