import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import type { ModelEvent } from '../../../src/models/chat-model.ts'
import type { FinishedRun } from '../../../src/services/agent/run-gate.ts'
import { createAgentForTest, toolAnswering } from './agent-for-test.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

const DELTA = toDelta('a')
const END = finish('length')

/** An agent whose model plays `events`, and what its observer has heard. */
function observe(events: (signal: AbortSignal) => AsyncGenerator<ModelEvent>) {
  const ended: FinishedRun[] = []
  const heard = { started: 0, ended }
  const agent = createAgentForTest({
    answers: [(_request, signal) => events(signal)],
    observer: {
      runStarted: () => {
        heard.started += 1
      },
      runEnded: (run) => void ended.push(run),
    },
  })
  return { heard, run: (signal?: AbortSignal) => agent.run({}, signal) }
}

describe('a finished run', () => {
  it('is told with its finish reason, its time and the time to its first text', async () => {
    const { heard, run } = observe(async function* () {
      await pause(20)
      yield DELTA
      await pause(20)
      yield* [DELTA, END]
    })
    expect((await Array.fromAsync(run())).slice(0, 2)).toEqual([DELTA, DELTA])
    expect(heard.started).toBe(1)
    expect(heard.ended).toHaveLength(1)
    const [{ outcome, milliseconds, firstDelta = 0 } = { outcome: '', milliseconds: 0 }] =
      heard.ended
    expect(outcome).toBe('length')
    expect(firstDelta).toBeGreaterThan(15)
    expect(milliseconds).toBeGreaterThan(firstDelta + 15)
  })

  it('is told with how often it called each tool', async () => {
    const ended: FinishedRun[] = []
    const { events } = createAgentForTest({
      tools: [toolAnswering('look', ''), toolAnswering('ask', '')],
      answers: [asks(toolCall('look'), toolCall('ask')), asks(toolCall('look')), says('Done.')],
      observer: { runStarted: () => undefined, runEnded: (run) => void ended.push(run) },
    })
    await events()
    expect(ended.map(({ tools }) => tools)).toEqual([{ look: 2, ask: 1 }])
  })

  it('without a text has no time to its first text', async () => {
    const { heard, run } = observe(async function* () {
      yield END
    })
    await Array.fromAsync(run())
    expect(heard.ended[0]?.firstDelta).toBeUndefined()
  })

  it.each([
    ['the code of its error', new AppError('upstream_timeout', 'x'), 'upstream_timeout'],
    ['internal where nobody foresaw its error', new Error('x'), 'internal'],
  ])('that failed is told with %s', async (_case, error, outcome) => {
    const { heard, run } = observe(async function* () {
      yield DELTA
      throw error
    })
    await expect(Array.fromAsync(run())).rejects.toBe(error)
    expect(heard.ended.map((ended) => ended.outcome)).toEqual([outcome])
  })
})

describe('an abandoned run', () => {
  it('is told as such when its reader stops reading', async () => {
    const { heard, run } = observe(async function* () {
      for (;;) yield DELTA
    })
    for await (const _event of run()) break
    expect(heard.ended.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  })

  it('is told as such when its signal ends it', async () => {
    const call = new AbortController()
    const { heard, run } = observe(async function* (signal) {
      yield DELTA
      signal.throwIfAborted()
    })
    const events = run(call.signal)
    await events.next()
    call.abort(new Error('left'))
    await expect(events.next()).rejects.toThrow('left')
    expect(heard.ended.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  })
})

it('a run that the server’s stop ends is told as shutting down, not as abandoned', async () => {
  const call = new AbortController()
  const { heard, run } = observe(async function* (signal) {
    yield DELTA
    signal.throwIfAborted()
  })
  const events = run(call.signal)
  await events.next()
  call.abort(new AppError('shutting_down', 'The server is shutting down'))
  await expect(events.next()).rejects.toThrow('shutting down')
  expect(heard.ended.map(({ outcome }) => outcome)).toEqual(['shutting_down'])
})

it('a run that was never read is not told of', () => {
  const { heard, run } = observe(async function* () {
    yield END
  })
  run()
  expect(heard).toEqual({ started: 0, ended: [] })
})
