import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { ChatRequest } from '../../../src/schemas/chat.ts'
import { CompletionRequest } from '../../../src/schemas/openai/completion.ts'
import { MASTER } from '../../../src/schemas/operator/api-key.ts'
import type { AgentEvent, AgentRequest } from '../../../src/services/agent/agent-event.ts'
import { createChat } from '../../../src/services/chat/chat.ts'
import { eachEvent, inBatches } from '../../support/batches.ts'
import { NOTHING_MORE } from '../agent/artifact.ts'

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
const ANSWER: AgentEvent[] = [
  { type: 'tool-call', callId: 'c', tool: 'look', input: {} },
  { type: 'tool-result', callId: 'c', tool: 'look', output: 'b', isError: false },
  { type: 'text-delta', text: 'At ' },
  { type: 'text-delta', text: 'nine.' },
  { type: 'run-end', reason: 'stop', hits: [], usage, ...NOTHING_MORE },
]
const { signal } = new AbortController()
const messages = [{ role: 'user', content: 'When?' }]

/** A chat over an agent that plays `events`, then fails if told to. */
function createForTest(events: readonly AgentEvent[] = ANSWER, failure?: Error) {
  const requests: AgentRequest[] = []
  const chat = createChat({
    agent: {
      async *run(request, runSignal) {
        expect(runSignal).toBe(signal)
        requests.push(request)
        yield* inBatches(events)
        if (failure) throw failure
      },
    },
    modelName: 'desk',
    defaultTopK: 7,
    collections: async () => ['hr'],
  })
  const frames = (more: object = {}) =>
    Array.fromAsync(
      eachEvent(chat.frames(ChatRequest.parse({ messages, ...more }), MASTER, undefined, signal)),
    )
  const chunks = (more: object = {}) =>
    Array.fromAsync(
      eachEvent(
        chat.chunks(CompletionRequest.parse({ messages, ...more }), MASTER, undefined, signal),
      ),
    )
  return { chat, requests, frames, chunks }
}

describe('the frames of a chat', () => {
  it('are the text and the end', async () => {
    const { frames, requests } = createForTest()
    expect((await frames()).map(({ type }) => type)).toEqual(['text-delta', 'text-delta', 'done'])
    expect(requests[0]?.topK).toBe(7)
  })

  it('are the steps, too, where they are asked for', async () => {
    const types = (await createForTest().frames({ includeSteps: true })).map(({ type }) => type)
    expect(types).toEqual(['tool-call', 'tool-result', 'text-delta', 'text-delta', 'done'])
  })

  it('end with what the run failed with', async () => {
    const failure = new AppError('upstream_failed', 'x')
    await expect(createForTest([], failure).frames()).rejects.toBe(failure)
  })
})

describe('the chunks of a completion', () => {
  it('begin with the role, once, and end with reason and hits', async () => {
    const chunks = await createForTest().chunks()
    expect(chunks.map(({ choices: [choice] }) => choice?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'At ' },
      { content: 'nine.' },
      {},
    ])
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)?.agent).toEqual({ hits: [], finishReason: 'stop' })
  })

  it('share identifier, time and model, which differ from those of the next completion', async () => {
    const { chunks } = createForTest()
    const heads = new Set(
      (await chunks()).map(({ id, created, model }) => `${id} ${created} ${model}`),
    )
    expect(heads.size).toBe(1)
    const [head = ''] = heads
    expect(head).toMatch(/^chatcmpl-[0-9a-f-]{36} \d{10} desk$/)
    expect((await chunks())[0]?.id).not.toBe(head.split(' ')[0])
  })

  it.each([
    [undefined, false],
    [null, false],
    [{ include_usage: false }, false],
    [{ include_usage: true }, true],
  ])('with stream options %j carry usage: %s', async (stream_options, carried) => {
    const chunks = await createForTest().chunks({ stream_options })
    expect(chunks.some(({ usage: reported }) => reported !== undefined)).toBe(carried)
  })

  it('are none where the run fails before its first event, so that it can become a status', async () => {
    const failure = new AppError('upstream_failed', 'x')
    const { chat } = createForTest([], failure)
    const chunks = chat.chunks(CompletionRequest.parse({ messages }), MASTER, undefined, signal)
    await expect(chunks.next()).rejects.toBe(failure)
  })
})

it('a completion in one piece is the same run', async () => {
  const { chat } = createForTest()
  const completion = await chat.complete(CompletionRequest.parse({ messages }), MASTER, signal)
  expect(completion.choices[0]?.message.content).toBe('At nine.')
  expect(completion.model).toBe('desk')
})

describe('the models', () => {
  it('are the one agent, and what it is over each collection', async () => {
    const { chat } = createForTest()
    const card = await chat.model('desk', MASTER, signal)
    const data = [card, { ...card, id: 'desk:hr' }]
    expect(await chat.models(MASTER, signal)).toEqual({ object: 'list', data })
    expect(await chat.model('desk:hr', MASTER, signal)).toEqual(data[1])
    expect(card).toEqual({
      id: 'desk',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'agent-server',
    })
  })

  it.each(['gpt-4o', '', 'DESK', 'desk:law'])('do not hold %j', async (id) => {
    const asked = createForTest().chat.model(id, MASTER, signal)
    await expect(asked).rejects.toMatchObject({ code: 'model_not_found' })
  })
})
