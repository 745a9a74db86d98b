import { AppError } from '@agent-server/lib/errors.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { Agent, AgentEvent, AgentRequest } from '@agent-server/wire'
import { answerEvents } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { createCompletionsDialect } from '../../../src/dialects/completions/dialect.ts'
import { CompletionRequest } from '../../../src/dialects/completions/schema.ts'
import { NOTHING_MORE } from '../../support/artifact.ts'
import { eachEvent, inBatches } from '../../support/batches.ts'

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

/** Completions over an agent that plays `events`, then fails if told to. */
function createForTest(events: readonly AgentEvent[] = ANSWER, failure?: Error) {
  const requests: AgentRequest[] = []
  const chatModel = { name: 'scripted', generates: true, supportsTools: true, supportsImages: true }
  const settings = { modelName: 'desk', agents: new Map(), defaultTopK: 7, chatModel }
  const dialect = createCompletionsDialect(settings)
  const agent: Pick<Agent, 'run'> = {
    async *run(request, runSignal) {
      expect(runSignal).toBe(signal)
      requests.push(request)
      yield* inBatches(events)
      if (failure) throw failure
    },
  }
  const read = (more: object) =>
    dialect.read(CompletionRequest.parse({ messages, ...more }), MASTER)
  const batches = async function* (more: object = {}) {
    yield* answerEvents(agent, () => read(more), signal)
  }
  return {
    requests,
    batches,
    chunks: (more: object = {}) => Array.fromAsync(eachEvent(batches(more))),
    async complete() {
      const exchange = await read({})
      for await (const batch of agent.run(exchange.request, signal)) await exchange.write(batch)
      return exchange.whole()
    },
  }
}

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
    await expect(createForTest([], failure).batches().next()).rejects.toBe(failure)
  })
})

it('a completion in one piece is the same run', async () => {
  const { complete, requests } = createForTest()
  const completion = await complete()
  expect(requests[0]?.topK).toBe(7)
  expect(completion.choices[0]?.message.content).toBe('At nine.')
  expect(completion.model).toBe('desk')
})
