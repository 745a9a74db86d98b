import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import { type Agent, limitRuns } from '../../../src/services/agent/run-agent.ts'
import { question } from './agent-for-test.ts'

const DELTA: AgentEvent = { type: 'text-delta', text: 'a' }
const FULL = { code: 'too_many_runs', retryAfter: expect.any(Number) }

/** Begins a run of `agent` and reads its first event. */
async function begin(agent: Agent): Promise<AsyncGenerator<AgentEvent>> {
  const events = agent.run(question('a'), new AbortController().signal)
  await events.next()
  return events
}

const endless: Agent = {
  async *run() {
    for (;;) yield DELTA
  },
}

describe('runs past the limit', () => {
  it('are refused while the others are under way, with the time to wait', async () => {
    const agent = limitRuns(endless, 2)
    await begin(agent)
    await begin(agent)
    await expect(begin(agent)).rejects.toMatchObject(FULL)
    await expect(begin(agent)).rejects.toMatchObject(FULL)
  })

  it.each<[string, (events: AsyncGenerator<AgentEvent>) => Promise<unknown>]>([
    ['is left by its reader', (events) => events.return(undefined)],
    ['is failed by its reader', (events) => events.throw(new Error('x')).catch(() => undefined)],
  ])('are let in when one %s', async (_case, end) => {
    const agent = limitRuns(endless, 1)
    await end(await begin(agent))
    await expect(begin(agent)).resolves.toBeDefined()
  })

  it('are let in when one has ended', async () => {
    const agent = limitRuns(
      {
        run: async function* () {
          yield DELTA
        },
      },
      1,
    )
    const events = await begin(agent)
    await expect(begin(agent)).rejects.toMatchObject(FULL)
    expect((await events.next()).done).toBe(true)
    await expect(begin(agent)).resolves.toBeDefined()
  })

  it('are let in when one has failed', async () => {
    const failing: Agent = {
      async *run() {
        yield DELTA
        throw new Error('x')
      },
    }
    const agent = limitRuns(failing, 1)
    await expect((await begin(agent)).next()).rejects.toThrow('x')
    await expect(begin(agent)).resolves.toBeDefined()
  })

  it('take no place that was never taken', async () => {
    const agent = limitRuns(endless, 1)
    const first = await begin(agent)
    for (let turn = 0; turn < 3; turn += 1) await expect(begin(agent)).rejects.toMatchObject(FULL)
    await first.return(undefined)
    await begin(agent)
    await expect(begin(agent)).rejects.toMatchObject(FULL)
  })
})

it('a run passes every event on', async () => {
  const events: AgentEvent[] = [
    DELTA,
    { type: 'run-end', reason: 'stop', hits: [], usage: undefined },
  ]
  const agent = limitRuns(
    {
      run: async function* () {
        yield* events
      },
    },
    1,
  )
  expect(await Array.fromAsync(agent.run(question('a'), new AbortController().signal))).toEqual(
    events,
  )
})
