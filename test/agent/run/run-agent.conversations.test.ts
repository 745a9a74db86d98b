import type { ModelMessage } from '@agent-server/models'
import type { AgentRequest } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../../../src/agent/tools/define-tool.ts'
import { createAgentForTest, endOf } from './agent-for-test.ts'
import { asks, says, toolCall } from './scripted-model.ts'

const SAYS = says('a', 'b')

/** An agent whose tool sees the session, and what was asked of it and ended after it. */
function agentThat(
  answers: Parameters<typeof createAgentForTest>[0]['answers'],
  more: Pick<Tool, 'approval'> = {},
) {
  const seen: unknown[] = []
  const ended: string[] = []
  const look = defineTool({
    ...more,
    name: 'look',
    title: 'look',
    description: 'Looks',
    input: z.looseObject({}),
    async run(_input, { sessionId }) {
      seen.push(sessionId)
      return 'seen'
    },
  })
  const { run } = createAgentForTest({
    answers,
    tools: [look],
    endSession: (sessionId) => void ended.push(sessionId),
  })
  return { seen, ended, run }
}

const LOOKS = asks(toolCall('look'))

describe('A session that the client did not name', () => {
  it('has a name of its own for each run and is over with it', async () => {
    const { seen, ended, run } = agentThat([LOOKS, SAYS, LOOKS, SAYS])
    await Array.fromAsync(run())
    await Array.fromAsync(run())
    expect(seen).toEqual(ended)
    expect(new Set(ended)).toHaveLength(2)
  })

  it('lasts as long as its run does', async () => {
    const { ended, run } = agentThat([SAYS])
    for await (const _event of run()) expect(ended).toEqual([])
    expect(ended).toHaveLength(1)
  })

  it('is not over while a call waits for approval', async () => {
    const { seen, ended, run } = agentThat([LOOKS, SAYS], { approval: 'always' })
    const events = await Array.fromAsync(run())
    expect(ended).toEqual([])
    const { state = '', calls = [] } = endOf(events).approval ?? {}
    const approved = calls.map(({ callId }) => callId)
    await Array.fromAsync(run({ resume: { state, approved } }))
    expect(seen).toHaveLength(1)
    expect(ended).toEqual(seen)
  })

  it('is over when the run fails', async () => {
    const { ended, run } = agentThat([])
    await expect(Array.fromAsync(run())).rejects.toThrow('No answer is scripted')
    expect(ended).toHaveLength(1)
  })

  it('is over when the caller leaves', async () => {
    const { ended, run } = agentThat([SAYS])
    const events = run()
    await events.next()
    await events.return(undefined)
    expect(ended).toHaveLength(1)
  })
})

describe('A session that the client named', () => {
  it('keeps its name and is not over with a run', async () => {
    const { seen, ended, run } = agentThat([LOOKS, SAYS])
    await Array.fromAsync(run({ sessionId: 'desk-7' }))
    expect(seen).toEqual(['desk-7'])
    expect(ended).toEqual([])
  })
})

describe('The cache key of what the model is sent', () => {
  const user = (content: string) => ({ role: 'user' as const, content })
  const keysOf = async (...requests: readonly Partial<AgentRequest>[]) => {
    const { run, model } = createAgentForTest({ answers: requests.map(() => SAYS) })
    for (const request of requests) await Array.fromAsync(run(request))
    return model.requests.map(({ cacheKey }) => cacheKey)
  }
  const asking = (...messages: ModelMessage[]) => ({ messages })

  it('is the same in every turn of a conversation', async () => {
    const first = user('When does it open?')
    const more = [{ role: 'assistant' as const, content: 'At nine.' }, user('And on Sundays?')]
    const [one, two] = await keysOf(asking(first), asking(first, ...more))
    expect(one).toMatch(/^agent-server-\d$/)
    expect(two).toBe(one)
  })

  it('is one of eight, whatever is asked', async () => {
    const requests = Array.from({ length: 100 }, (_, each) => asking(user(`Question ${each}`)))
    expect(new Set(await keysOf(...requests)).size).toBe(8)
  })
})
