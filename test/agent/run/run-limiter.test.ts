import { AppError } from '@agent-server/lib/errors.ts'
import type { ModelEvent } from '@agent-server/models'
import type { AgentEvent } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import type { FinishedRun } from '../../../src/agent/run/run-limiter.ts'
import { createAgentForTest, toolAnswering } from './agent-for-test.ts'
import { asks, finish, type ScriptedAnswer, says, toDelta, toolCall } from './scripted-model.ts'

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
  it('is reported with its finish reason, its duration and the time to its first text', async () => {
    const { heard, run } = observe(async function* () {
      yield* [DELTA, DELTA, END]
    })
    expect((await Array.fromAsync(run())).slice(0, 2)).toEqual([DELTA, DELTA])
    expect(heard.started).toBe(1)
    expect(heard.ended).toHaveLength(1)
    const [{ outcome, milliseconds, firstDelta = Infinity } = { outcome: '', milliseconds: 0 }] =
      heard.ended
    expect(outcome).toBe('length')
    expect(firstDelta).toBeLessThanOrEqual(milliseconds)
  })

  it('is reported with the number of calls of each tool', async () => {
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
  it('is reported as such when its reader stops reading', async () => {
    const { heard, run } = observe(async function* () {
      for (;;) yield DELTA
    })
    for await (const _event of run()) break
    expect(heard.ended.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  })

  it('is reported as such when its signal ends it', async () => {
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

it('a run ended by the server’s shutdown is reported as shutting down, not as abandoned', async () => {
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

it('a run that was never read is not reported', () => {
  const { heard, run } = observe(async function* () {
    yield END
  })
  run()
  expect(heard).toEqual({ started: 0, ended: [] })
})

const FULL = { code: 'too_many_runs', retryAfter: expect.any(Number) }

type Run = ReturnType<typeof createAgentForTest>['run']

/** Begins a run and reads its first event. */
async function begin(run: Run): Promise<AsyncGenerator<AgentEvent>> {
  const events = run()
  await events.next()
  return events
}

const endless: ScriptedAnswer = async function* () {
  for (;;) yield toDelta('a')
}

const agentWith = (maxRuns: number, ...answers: ScriptedAnswer[]) =>
  createAgentForTest({ answers, maxRuns }).run

describe('runs past the limit', () => {
  it('are refused while the others are under way, with the time to wait', async () => {
    const run = agentWith(2, endless, endless)
    await begin(run)
    await begin(run)
    await expect(begin(run)).rejects.toMatchObject(FULL)
    await expect(begin(run)).rejects.toMatchObject(FULL)
  })

  it.each<[string, (events: AsyncGenerator<AgentEvent>) => Promise<unknown>]>([
    ['is left by its reader', (events) => events.return(undefined)],
    ['is failed by its reader', (events) => events.throw(new Error('x')).catch(() => undefined)],
  ])('are let in when one %s', async (_case, end) => {
    const run = agentWith(1, endless, endless)
    await end(await begin(run))
    await expect(begin(run)).resolves.toBeDefined()
  })

  it('are let in when one has ended', async () => {
    const run = agentWith(1, says('a'), endless)
    const events = await begin(run)
    await expect(begin(run)).rejects.toMatchObject(FULL)
    await Array.fromAsync(events)
    await expect(begin(run)).resolves.toBeDefined()
  })

  it('are let in when one has failed', async () => {
    const failing: ScriptedAnswer = async function* () {
      yield toDelta('a')
      throw new Error('x')
    }
    const run = agentWith(1, failing, endless)
    await expect((await begin(run)).next()).rejects.toThrow('x')
    await expect(begin(run)).resolves.toBeDefined()
  })

  it('release no slot that they never had', async () => {
    const run = agentWith(1, endless, endless)
    const first = await begin(run)
    for (let turn = 0; turn < 3; turn += 1) await expect(begin(run)).rejects.toMatchObject(FULL)
    await first.return(undefined)
    await begin(run)
    await expect(begin(run)).rejects.toMatchObject(FULL)
  })
})
