import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import {
  chunk,
  DONE,
  errorReply,
  jsonReply,
  rawReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../../../../test/support/upstream-replies.ts'
import type { ModelEvent } from '../../src/chat-model.ts'
import { question, startModel, type TestModel, TOOL } from './model-for-test.ts'

const { signal } = new AbortController()
const bodiesOf = ({ upstream }: TestModel) =>
  upstream.requests.map(({ body }) => JSON.parse(JSON.stringify(body)))

async function eventsOf({ model }: TestModel, request = {}): Promise<ModelEvent[]> {
  return Array.fromAsync(eachEvent(model.stream(question(request), signal)))
}

describe('A server that is llama.cpp', () => {
  const told = (caps: object) => ({
    '/v1/models': listOf({ owned_by: 'llamacpp' }),
    '/props': { default_generation_settings: { n_ctx: 4_096 }, chat_template_caps: caps },
  })

  it('says how much of the prompt it has read', async () => {
    const test = await startModel()
    test.upstream.tell(told({ supports_tools: true }))
    await test.model.learnWindow(signal)
    const progress = (processed: number) =>
      chunk({}, null, { prompt_progress: { total: 900, cache: 0, processed, time_ms: 1 } })
    const steps = [progress(300), { pauseMs: 30 }, progress(900), chunk({ content: 'At nine' })]
    test.upstream.script(streamReply(...steps, chunk({}, 'stop'), DONE))
    expect(await eventsOf(test)).toMatchObject([
      { type: 'progress', phase: 'prefill', processed: 300, total: 900 },
      { type: 'progress', phase: 'prefill', processed: 900, total: 900 },
      { type: 'text-delta', text: 'At nine' },
      { type: 'finish' },
    ])
    expect(bodiesOf(test)).toMatchObject([{ return_progress: true }])
  })

  it('is sent no tools where its template would leave them out', async () => {
    const test = await startModel()
    test.upstream.tell(told({ supports_tools: false }))
    test.upstream.always(textReply('At nine'))
    expect(test.model.supportsTools).toBe(true)
    await test.model.learnWindow(signal)
    expect(test.model.supportsTools).toBe(false)
    await test.ask({ tools: [TOOL] })
    expect(bodiesOf(test)[0]).not.toHaveProperty('tools')
  })

  it.each([
    ['by name', { name: TOOL.name }, [TOOL.name]],
    ['of any tool', 'required' as const, ['paint', TOOL.name]],
  ])('is held to a call %s by a schema of its answer', async (_case, toolChoice, names) => {
    const test = await startModel()
    test.upstream.tell(told({}))
    await test.model.learnWindow(signal)
    test.upstream.always(textReply(`{"name": "${TOOL.name}", "arguments": {}}`))
    const request = { tools: [{ ...TOOL, name: 'paint' }, TOOL], toolChoice }
    const calls = (await eventsOf(test, request)).filter(({ type }) => type === 'tool-call')
    expect(calls).toMatchObject([{ call: { name: TOOL.name } }])
    const anyOf = names.map((name) => ({ properties: { name: { const: name } } }))
    const [body] = bodiesOf(test)
    expect(body).toMatchObject({ response_format: { json_schema: { schema: { anyOf } } } })
    expect(body).not.toHaveProperty('tools')
  })

  it('that refuses the schema is asked by tool_choice', async () => {
    const test = await startModel()
    test.upstream.tell(told({}))
    await test.model.learnWindow(signal)
    test.upstream.script(errorReply(400, 'failed to parse grammar'))
    test.upstream.always(toolCallReply({ name: TOOL.name, arguments: {} }))
    await test.ask({ tools: [TOOL], toolChoice: 'required' })
    expect(bodiesOf(test)[1]).toMatchObject({ tool_choice: 'required' })
  })

  it.each([
    [{ error: { message: 'Loading model', type: 'unavailable_error', code: 503 } }],
    [{ error: 'Model gpt2 is currently loading', estimated_time: 20 }],
  ])('is waited for while it loads the model, which is told: %j', async (told) => {
    const test = await startModel()
    const loading = jsonReply(told, 503, { 'retry-after-ms': '1' })
    test.upstream.script(...Array(5).fill(loading), textReply('At nine'))
    const events = await eventsOf(test)
    expect(events.slice(0, 5)).toEqual(Array(5).fill({ type: 'progress', phase: 'loading' }))
    expect(events.at(-1)?.type).toBe('finish')
  })
})

describe('Tools that are missing in the size of a prompt', () => {
  const tools = [{ ...TOOL, description: 'Searches. '.repeat(200) }]
  const sized = (prompt_tokens: number) =>
    textReply('At nine', { usage: { prompt_tokens, completion_tokens: 2 } })

  it('are left out, if a short question is the same with a tool and without', async () => {
    const test = await startModel()
    test.upstream.script(sized(30), sized(9), sized(9))
    await test.ask({ tools })
    await expect.poll(() => test.model.supportsTools).toBe(false)
    expect(bodiesOf(test).map(({ tools: sent = [] }) => sent.length)).toEqual([1, 0, 1])
  })

  it('are offered, if it is longer with a tool', async () => {
    const test = await startModel()
    test.upstream.script(sized(30), sized(9), sized(60))
    await test.ask({ tools })
    await expect.poll(() => test.upstream.requests.length).toBe(3)
    await test.upstream.requests[2]?.closed
    test.upstream.script(sized(30))
    await test.ask({ tools })
    expect(test.model.supportsTools).toBe(true)
    expect(test.upstream.requests).toHaveLength(4)
  })

  it.each([
    ['the prompt is long enough for them', sized(600)],
    ['nothing is told of its size', sized(0)],
    ['one is called', toolCallReply({ name: TOOL.name, arguments: {} })],
  ])('cause no question where %s', async (_case, script) => {
    const test = await startModel()
    test.upstream.always(script)
    await test.ask({ tools })
    await test.ask({ tools })
    expect(test.upstream.requests).toHaveLength(2)
  })
})

describe('A tool choice by name', () => {
  it('that had no effect is made by offering the tool alone', async () => {
    const test = await startModel()
    test.upstream.always(textReply('At nine'))
    const request = { tools: [TOOL], toolChoice: { name: TOOL.name } }
    await test.ask(request)
    await test.ask(request)
    expect(bodiesOf(test).map(({ tool_choice }) => tool_choice)).toEqual([
      { type: 'function', function: { name: TOOL.name } },
      'required',
    ])
  })
})

describe('Roles that a template refuses', () => {
  const messages = [
    { role: 'system' as const, content: 'Be short.' },
    { role: 'assistant' as const, content: 'Hello.' },
    { role: 'user' as const, content: 'When?' },
    { role: 'user' as const, content: 'Say it.' },
    { role: 'assistant' as const, content: 'At nine.' },
    { role: 'assistant' as const, content: 'Or ten.' },
    { role: 'user' as const, content: 'Which?' },
  ]

  it.each([
    [500, 'Conversation roles must alternate user/assistant/user/assistant/...'],
    [400, 'System role not supported'],
    [500, 'Unable to generate parser for this template. Automatic parser generation failed:\nrows'],
  ])('are merged, and stay so, after %i %s', async (status, message) => {
    const test = await startModel()
    test.upstream.script(errorReply(status, message))
    test.upstream.always(textReply('At nine'))
    await test.ask({ messages })
    await test.ask({ messages })
    const merged = [
      { role: 'user', content: 'Be short.\n\nYou said: Hello.\n\nWhen?\n\nSay it.' },
      { role: 'assistant', content: 'At nine.\n\nOr ten.' },
      { role: 'user', content: 'Which?' },
    ]
    expect(
      bodiesOf(test)
        .slice(1)
        .map((body) => body.messages),
    ).toEqual([merged, merged])
  })

  it('leave tools out where that was not the reason', async () => {
    const test = await startModel()
    const refusal = errorReply(500, 'Unable to generate parser for this template.')
    test.upstream.script(refusal, refusal)
    test.upstream.always(textReply('At nine'))
    await test.ask({ messages, tools: [TOOL] })
    expect(bodiesOf(test).map((body) => 'tools' in body)).toEqual([true, true, false])
    expect(test.model.supportsTools).toBe(false)
  })

  it('are reported with the cause on the next line', async () => {
    const { upstream, ask } = await startModel()
    const message = 'Unable to generate parser for this template. It failed:\nunknown filter'
    upstream.always(errorReply(400, message))
    await expect(ask()).rejects.toThrow('It failed: unknown filter')
  })
})

describe('What a model writes besides its answer', () => {
  it('is reasoning, in a field of its own or in its text', async () => {
    const test = await startModel()
    test.upstream.script(
      streamReply(
        chunk({ reasoning_content: 'Hm. ' }),
        chunk({ content: '<think>So' }),
        chunk({ content: '.</think>\n\nAt nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    )
    const events = await eventsOf(test)
    const textOf = (type: string) =>
      events.map((event) => ('text' in event && event.type === type ? event.text : '')).join('')
    expect(textOf('reasoning-delta')).toBe('Hm. So.')
    expect(textOf('text-delta')).toBe('At nine')
  })

  it('is known as thinking without its mark from the second answer on', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(
      textReply('Hm.\n</think>\n\nAt nine'),
      textReply('So.\n</think>\n\nAt ten'),
      textReply('At eleven'),
      textReply('At twelve'),
    )
    const texts = [await ask(), await ask(), await ask(), await ask()].map(({ text }) => text)
    expect(texts).toEqual(['Hm.\n\nAt nine', 'At ten', 'At eleven', 'At twelve'])
  })

  it('may be a call of an offered tool', async () => {
    const { upstream, ask } = await startModel()
    upstream.always(textReply(`{"name": "${TOOL.name}", "arguments": {"query": "hours"}}`))
    expect(await ask({ tools: [TOOL] })).toMatchObject({
      text: '',
      calls: [{ name: TOOL.name, arguments: '{"query":"hours"}' }],
      finish: { reason: 'tool_calls' },
    })
    const json = await ask({ tools: [TOOL], sampling: { format: { type: 'json' } } })
    expect(json.calls).toEqual([])
  })
})

describe('An answer without text says why', () => {
  it.each([
    [chunk({}, 'length'), /no room left/],
    [chunk({ reasoning_content: 'Hm.' }, 'length'), /still thinking/],
    [chunk({ reasoning_content: 'Hm.' }, 'stop'), /gave no answer/],
    [chunk({}, 'content_filter'), /withheld/],
    [chunk({ content: '{"name": "lose", "arguments": {}}' }, 'stop'), /tool that does not exist/],
    [chunk({}, 'stop'), /gave no answer/],
  ])('%j', async (step, words) => {
    const { upstream, ask } = await startModel()
    upstream.script(streamReply(step, DONE))
    const { finish } = await ask({ tools: [TOOL] })
    expect(finish?.emptyBecause).toMatch(words)
  })

  it('but one with text does not', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(textReply('At nine'))
    expect((await ask()).finish).not.toHaveProperty('emptyBecause')
  })
})

describe('The usage', () => {
  it.each([
    [{ prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } }, {}],
    [{ prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 5 }, {}],
    [{ prompt_tokens: 9, completion_tokens: 2 }, { timings: { cache_n: 5 } }],
  ])('has the cached tokens: %j %j', async (usage, more) => {
    const { upstream, ask } = await startModel()
    upstream.script(
      streamReply(chunk({ content: 'At' }), chunk({}, 'stop', { usage, ...more }), DONE),
    )
    expect((await ask()).finish?.usage?.cachedTokens).toBe(5)
  })

  it('reports the speed, or the server does', async () => {
    const { upstream, model, ask } = await startModel()
    const usage = { prompt_tokens: 9, completion_tokens: 20 }
    const isBegun = Promise.withResolvers<void>()
    const steps = [
      chunk({ content: 'At' }),
      { until: isBegun.promise },
      chunk({ content: ' nine' }),
    ]
    upstream.script(streamReply(...steps, chunk({}, 'stop', { usage }), DONE))
    expect(model.speed).toBeUndefined()
    for await (const batch of model.stream(question(), signal)) {
      if (batch.length > 0) setTimeout(isBegun.resolve, 100)
    }
    expect(model.speed).toBeGreaterThan(1)
    expect(model.speed).toBeLessThan(1_000)
    const told = { timings: { predicted_per_second: (model.speed ?? 0) + 50 } }
    const before = model.speed ?? 0
    upstream.script(rawReply(`${chunk({ content: 'At' }, 'stop', told).send}data: [DONE]\n\n`))
    await ask()
    expect(model.speed).toBeCloseTo(before + 25)
  })
})

function listOf(model: object) {
  return { object: 'list', data: [{ id: 'test-model', object: 'model', ...model }] }
}
