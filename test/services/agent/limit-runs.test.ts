import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import { createAgentForTest } from './agent-for-test.ts'
import { type ScriptedAnswer, says, toDelta } from './scripted-model.ts'

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

  it('take no place that was never taken', async () => {
    const run = agentWith(1, endless, endless)
    const first = await begin(run)
    for (let turn = 0; turn < 3; turn += 1) await expect(begin(run)).rejects.toMatchObject(FULL)
    await first.return(undefined)
    await begin(run)
    await expect(begin(run)).rejects.toMatchObject(FULL)
  })
})
