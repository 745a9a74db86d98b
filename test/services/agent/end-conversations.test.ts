import { describe, expect, it } from 'vitest'
import type { AgentEvent, AgentRequest } from '../../../src/services/agent/agent-event.ts'
import { endConversations } from '../../../src/services/agent/run-agent.ts'
import { question } from './agent-for-test.ts'

const DELTA: AgentEvent = { type: 'text-delta', text: 'a' }

/** An agent that plays two deltas, or fails between them, and what was asked of it and ended after it. */
function agentThat(fails = false) {
  const asked: AgentRequest[] = []
  const ended: string[] = []
  const agent = endConversations(
    {
      async *run(request) {
        asked.push(request)
        yield DELTA
        if (fails) throw new Error('It broke')
        yield DELTA
      },
    },
    (conversation) => void ended.push(conversation),
  )
  const run = (request: AgentRequest) => agent.run(request, new AbortController().signal)
  return { asked, ended, run }
}

describe('A conversation that the client did not name', () => {
  it('has a name of its own for each run and is over with it', async () => {
    const { asked, ended, run } = agentThat()
    await Array.fromAsync(run(question('a')))
    await Array.fromAsync(run(question('b')))
    expect(asked.map(({ conversationId }) => conversationId)).toEqual(ended)
    expect(new Set(ended)).toHaveLength(2)
  })

  it('lasts as long as its run does', async () => {
    const { ended, run } = agentThat()
    for await (const event of run(question('a'))) {
      expect(event).toEqual(DELTA)
      expect(ended).toEqual([])
    }
    expect(ended).toHaveLength(1)
  })

  it('is over when the run fails', async () => {
    const { ended, run } = agentThat(true)
    await expect(Array.fromAsync(run(question('a')))).rejects.toThrow('It broke')
    expect(ended).toHaveLength(1)
  })

  it('is over when the caller leaves', async () => {
    const { ended, run } = agentThat()
    const events = run(question('a'))
    await events.next()
    await events.return(undefined)
    expect(ended).toHaveLength(1)
  })
})

describe('A conversation that the client named', () => {
  it('keeps its name and is not over with a run', async () => {
    const { asked, ended, run } = agentThat()
    const events = await Array.fromAsync(run({ ...question('a'), conversationId: 'desk-7' }))
    expect(events).toEqual([DELTA, DELTA])
    expect(asked[0]?.conversationId).toBe('desk-7')
    expect(ended).toEqual([])
  })
})
