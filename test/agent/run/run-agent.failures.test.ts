import { once } from 'node:events'
import { AppError } from '@agent-server/lib/errors.ts'
import {
  type ModelEvent,
  type ModelRequest,
  PromptTooLong,
  sizeOfMessages,
} from '@agent-server/models'
import type { AgentEvent } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../../src/agent/run/run-agent.ts'
import { createWindow } from '../../../src/agent/run/window.ts'
import { ToolRegistry } from '../../../src/agent/tools/registry.ts'
import { eachEvent } from '../../support/batches.ts'
import { createMemoryArtifactStore } from '../tools/memory-artifact-store.ts'
import {
  createAgentForTest,
  LIMITS,
  outline,
  question,
  SILENT,
  toolAnswering,
  UNWATCHED,
} from './agent-for-test.ts'
import { asks, createScriptedModel, finish, says, toDelta, toolCall } from './scripted-model.ts'

const GONE = new Error('the caller left')

/** What came before the failure, and the failure. */
async function readUntilFailure(events: AsyncGenerator<AgentEvent>) {
  const heard: AgentEvent[] = []
  try {
    for await (const event of events) heard.push(event)
  } catch (error) {
    return { heard, error }
  }
  throw new Error('The run did not fail')
}

async function* failsWith(error: Error, ...before: ModelEvent[]): AsyncGenerator<ModelEvent> {
  yield* before
  throw error
}

describe('a failure of the model', () => {
  const failure = new AppError('upstream_failed', 'The connection to the chat model failed')

  it('before the first text is the first thing that the caller hears', async () => {
    const { run } = createAgentForTest({ answers: [() => failsWith(failure)] })
    expect(await readUntilFailure(run())).toEqual({ heard: [], error: failure })
  })

  it('after some text follows that text, and no run-end', async () => {
    const { run } = createAgentForTest({ answers: [() => failsWith(failure, toDelta('At '))] })
    const { heard, error } = await readUntilFailure(run())
    expect(outline(heard)).toEqual(['At '])
    expect(error).toBe(failure)
  })

  it('in a later round ends the run', async () => {
    const { run } = createAgentForTest({
      tools: [toolAnswering('look', 'seen')],
      answers: [asks(toolCall('look')), () => failsWith(failure)],
    })
    expect((await readUntilFailure(run())).error).toBe(failure)
  })
})

it('a failure of retrieval ends the run before the model is asked', async () => {
  const failure = new AppError('index_not_ready', 'The search index is being rebuilt')
  const model = createScriptedModel([says('never')])
  const agent = createAgent({
    model,
    retrieval: { search: () => Promise.reject(failure) },
    tools: new ToolRegistry({
      sources: [],
      isEnabled: () => true,
      log: SILENT,
    }),
    artifacts: createMemoryArtifactStore(),
    prompt: { prompt: '' },
    window: createWindow({ model, contextTokens: 32_768, log: SILENT }),
    limits: LIMITS,
    ...UNWATCHED,
  })
  const { error } = await readUntilFailure(
    eachEvent(agent.run(question('a'), new AbortController().signal)),
  )
  expect(error).toBe(failure)
  expect(model.requests).toEqual([])
})

describe('a prompt that the model finds too long', () => {
  const sizeOf = ({ messages, tools }: ModelRequest) =>
    sizeOfMessages(messages) + (tools.length > 0 ? JSON.stringify(tools).length : 0)
  const found = Array.from({ length: 1_000 }, (_, index) => `chunk ${index}`)

  /** Refuses whatever is longer than so many tokens of two bytes, as the server words it. */
  const refusing = (window: number, told: { promptTokens?: boolean; window?: boolean }) =>
    Array.from(
      { length: 6 },
      () =>
        async function* (request: ModelRequest) {
          const promptTokens = Math.ceil(sizeOf(request) / 2)
          if (promptTokens > window) {
            throw new PromptTooLong('too long', {
              ...(told.promptTokens && { promptTokens }),
              ...(told.window && { window }),
            })
          }
          yield toDelta('Yes.')
          yield finish('stop', { promptTokens, completionTokens: 1 })
        },
    )

  it.each([
    ['both numbers', { promptTokens: true, window: true }, 2],
    ['the window', { window: true }, 3],
    ['the number of its tokens', { promptTokens: true }, 3],
    ['nothing', {}, 4],
  ])(
    'is fitted again with what the refusal tells, and then fits: %s',
    async (_case, told, most) => {
      const tools = [toolAnswering('look', 'seen')]
      const answers = refusing(4_096, told)
      const { events, model } = createAgentForTest({ answers, found, tools })
      expect(outline(await events())).toEqual(['Yes', '.', 'end: stop'])
      const before = model.requests.length
      expect(before).toBeLessThanOrEqual(most)
      await events()
      expect(model.requests.length).toBe(before + 1)
    },
  )

  it('fails with the model’s words where nothing is left to be cut', async () => {
    const failure = new PromptTooLong('too long', { promptTokens: 5_000, window: 4_096 })
    const fails = () => failsWith(failure)
    const { run, model } = createAgentForTest({ answers: [fails, fails, fails, fails, fails] })
    expect((await readUntilFailure(run())).error).toBe(failure)
    expect(model.requests.length).toBe(2)
  })
})

describe('an abort', () => {
  it('before the run begins ends it with its reason, and asks nobody', async () => {
    const { run, model } = createAgentForTest({ answers: [says('never')] })
    const { heard, error } = await readUntilFailure(run({}, AbortSignal.abort(GONE)))
    expect(heard).toEqual([])
    expect(error).toBe(GONE)
    expect(model.requests).toEqual([])
  })

  it('while the model writes ends the run with its reason', async () => {
    const waits = Promise.withResolvers<void>()
    const call = new AbortController()
    const { run } = createAgentForTest({
      answers: [
        async function* (_request, signal) {
          yield toDelta('At ')
          waits.resolve()
          await once(signal, 'abort')
          throw signal.reason
        },
      ],
    })
    const events = run({}, call.signal)
    await events.next()
    const second = events.next()
    await waits.promise
    call.abort(GONE)
    await expect(second).rejects.toBe(GONE)
  })

  it('while a tool runs ends the run with its reason, also where the tool does not listen', async () => {
    const call = new AbortController()
    const deaf = toolAnswering('deaf', () => new Promise<string>(() => undefined))
    const { run, model } = createAgentForTest({
      tools: [deaf],
      answers: [asks(toolCall('deaf')), says('never')],
    })
    const events = run({}, call.signal)
    await events.next()
    const result = events.next()
    call.abort(GONE)
    await expect(result).rejects.toBe(GONE)
    expect(model.requests).toHaveLength(1)
  })
})

it('a caller who stops reading ends the model’s stream', async () => {
  let closed = false
  const { run } = createAgentForTest({
    answers: [
      async function* () {
        try {
          for (;;) yield toDelta('more ')
        } finally {
          closed = true
        }
      },
    ],
  })
  for await (const event of run()) if (event.type === 'text-delta') break
  expect(closed).toBe(true)
})
