import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { ModelEvent } from '../../../src/models/chat-model.ts'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import { createAgent } from '../../../src/services/agent/run-agent.ts'
import { createToolRegistry } from '../../../src/services/tools/registry.ts'
import { eachEvent } from '../../support/batches.ts'
import { createMemoryArtifactStore } from '../tools/memory-artifact-store.ts'
import {
  createAgentForTest,
  LIMITS,
  outline,
  question,
  toolAnswering,
  UNWATCHED,
} from './agent-for-test.ts'
import { asks, createScriptedModel, says, toDelta, toolCall } from './scripted-model.ts'

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
    tools: createToolRegistry({
      sources: [],
      isEnabled: () => true,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    }),
    artifacts: createMemoryArtifactStore(),
    prompt: { prompt: '', contextTokens: 32_768 },
    limits: LIMITS,
    ...UNWATCHED,
  })
  const { error } = await readUntilFailure(
    eachEvent(agent.run(question('a'), new AbortController().signal)),
  )
  expect(error).toBe(failure)
  expect(model.requests).toEqual([])
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
