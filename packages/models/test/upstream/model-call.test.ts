import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../../test/support/batches.ts'
import { chunk, fixtureReply, rawReply } from '../../../../test/support/upstream-replies.ts'
import { question, startModel, TOOL } from './model-for-test.ts'

const HOURS = '{"query":"opening hours"}'
const neverAborted = new AbortController().signal
const FEES = '{"query":"fees"}'

describe('texts of known providers', () => {
  it.each([
    [
      'openai-text',
      'The library opens at nine [1].',
      { promptTokens: 58, completionTokens: 9, cachedTokens: 0, reasoningTokens: 0 },
    ],
    ['azure-text', "Nine o'clock [1].", { promptTokens: 15, completionTokens: 6 }],
    ['ollama-text', 'At nine [1].', { promptTokens: 41, completionTokens: 12 }],
    ['openrouter-text', 'At nine [1].', { promptTokens: 62, completionTokens: 8 }],
    ['llama-cpp-text', 'At nine [1].', { promptTokens: 17, completionTokens: 14, cachedTokens: 7 }],
    ['mistral-thinking', 'At nine [1].', { promptTokens: 28, completionTokens: 12 }],
    ['groq-text', 'At nine [1].', { promptTokens: 48, completionTokens: 7 }],
    ['moonshot-text', 'At nine [1].', { promptTokens: 19, completionTokens: 7 }],
  ])('%s is read whole, without the reasoning', async (fixture, text, usage) => {
    const { upstream, ask } = await startModel()
    upstream.script(fixtureReply(fixture))
    const answer = await ask()
    expect(answer.text).toBe(text)
    expect(answer.calls).toEqual([])
    expect(answer.finish).toEqual({ type: 'finish', reason: 'stop', usage })
  })

  it('goes on as one text where several deltas come in one read', async () => {
    const { upstream, model } = await startModel()
    const words = ['At ', 'nine ', '[1].'].map((content) => chunk({ content }).send)
    upstream.script(rawReply([...words, chunk({}, 'stop').send, 'data: [DONE]\n\n'].join('')))
    const events = await Array.fromAsync(eachEvent(model.stream(question(), neverAborted)))
    expect(events[0]).toEqual({ type: 'text-delta', text: 'At nine [1].' })
    expect(events.map(({ type }) => type)).toEqual(['text-delta', 'finish'])
  })

  it('vllm-text-in-last-chunk keeps the text that comes with the finish reason', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(fixtureReply('vllm-text-in-last-chunk'))
    const { text, finish } = await ask()
    expect(text).toBe('At nine [1].')
    expect(finish?.reason).toBe('length')
    expect(finish?.usage).toEqual({ promptTokens: 33, completionTokens: 8 })
  })
})

describe('tool calls of known providers', () => {
  it.each([
    ['openai-tool-calls', [HOURS, FEES]],
    ['ollama-tool-calls-without-index', [HOURS, FEES]],
    ['gemini-tool-calls', [HOURS, FEES]],
    ['gemini-split-tool-call', [HOURS]],
    ['vllm-tool-calls-repeated-index', [HOURS, FEES]],
    ['vllm-tool-call-new-id-per-fragment', [HOURS]],
    ['openrouter-tool-call', [HOURS]],
    ['lm-studio-tool-call', [HOURS]],
    ['deepseek-tool-call', [HOURS]],
    ['llama-cpp-tool-call', [HOURS]],
    ['anthropic-tool-call', [HOURS]],
  ])('%s gives each call once, with whole arguments', async (fixture, expected) => {
    const { upstream, ask } = await startModel()
    upstream.script(fixtureReply(fixture))
    const { calls, finish } = await ask({ tools: [TOOL] })
    expect(calls.map(({ name }) => name)).toEqual(expected.map(() => 'search_documents'))
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual(
      expected.map((text) => JSON.parse(text)),
    )
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(expected.length)
    expect(finish?.reason).toBe('tool_calls')
  })

  it.each([
    ['gemini-tool-calls', 'EjQKMgEMOdbHJChLX75QUCJj'],
    ['gemini-split-tool-call', 'EjQKMgEMOdbHJChL'],
  ])('%s has its signature sent back with the call it came with', async (fixture, signature) => {
    const messages = await secondRound(fixture)
    const [first, ...others] = messages.tool_calls
    expect(first.extra_content).toEqual({ google: { thought_signature: signature } })
    expect(others.every((call: object) => !('extra_content' in call))).toBe(true)
  })

  it('deepseek-tool-call has its reasoning sent back with the call', async () => {
    const message = await secondRound('deepseek-tool-call')
    expect(message.reasoning_content).toBe('I should search the documents.')
    expect(message.content).toBeNull()
  })

  it('openrouter-tool-call has its encrypted reasoning sent back with the call', async () => {
    const message = await secondRound('openrouter-tool-call')
    expect(message.reasoning_details).toEqual([
      expect.objectContaining({ type: 'reasoning.encrypted', data: 'EjQKMgEMOdbHJChL' }),
    ])
  })
})

const AGAIN = ": try again, and look into the log of the chat model's server if it happens again"

describe('failures inside the streams of known providers', () => {
  it.each([
    ['openrouter-error', 'upstream_failed', `The chat model failed (502)${AGAIN}`],
    ['lm-studio-error', 'upstream_failed', `The chat model failed (500)${AGAIN}`],
    ['vllm-error-object', 'upstream_failed', `The chat model failed (500)${AGAIN}`],
    [
      'llama-cpp-error-field',
      'context_length_exceeded',
      'The question is longer than the chat model can read: shorten it, or add its text as a document',
    ],
  ])('%s fails after the text that came before', async (fixture, code, message) => {
    const { upstream, model } = await startModel()
    upstream.script(fixtureReply(fixture))
    const request = { messages: [], tools: [], sampling: {}, chunks: [] }
    const events = eachEvent(model.stream(request, new AbortController().signal))
    expect(await events.next()).toMatchObject({ value: { type: 'text-delta', text: 'At' } })
    await expect(events.next()).rejects.toMatchObject({ code, message })
    expect(upstream.requests).toHaveLength(1)
  })
})

/** The assistant's message as it is sent once its calls were answered. */
async function secondRound(fixture: string) {
  const { upstream, ask } = await startModel()
  upstream.script(fixtureReply(fixture), fixtureReply('openai-text'))
  const { text, calls, finish } = await ask({ tools: [TOOL] })
  await ask({
    tools: [TOOL],
    messages: [
      { role: 'user', content: 'When does the library open?' },
      { role: 'assistant', content: text, toolCalls: calls, reasoning: finish?.reasoning },
      ...calls.map(({ callId }) => ({ role: 'tool' as const, callId, content: 'at nine' })),
    ],
  })
  const body = JSON.parse(JSON.stringify(upstream.requests.at(-1)?.body))
  return body.messages[1]
}
