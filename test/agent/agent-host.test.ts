import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AgentHost, Users } from '../../src/agent/agent-host.ts'
import { SILENT } from './run/agent-for-test.ts'

const { signal } = new AbortController()
const closed: string[] = []
const partOf = (name: string) => ({ close: async () => void closed.push(name) })

function agentOf(name: string, ...shared: ReturnType<typeof partOf>[]) {
  const configuration = { limits: { seconds: 300 } }
  return { name, users: new Users(), parts: [partOf(name), ...shared], configuration }
}
type Agent = ReturnType<typeof agentOf>

function hostOf(first: Agent) {
  closed.length = 0
  const host = new AgentHost<Agent>(first, SILENT)
  const swap = (next: Agent, settle = async () => undefined) =>
    host.swap(async () => next, settle, signal)
  return { host, swap }
}

describe('A replaced agent', () => {
  it('is closed when its last run has ended', async () => {
    const first = agentOf('first')
    const { host, swap } = hostOf(first)
    const runs = [first.users.hold(), first.users.hold()]
    await swap(agentOf('second'))
    expect(host.current.name).toBe('second')
    runs[0]?.[Symbol.dispose]()
    runs[0]?.[Symbol.dispose]()
    await nextTurn()
    expect(closed).toEqual([])
    runs[1]?.[Symbol.dispose]()
    await expect.poll(() => closed).toEqual(['first'])
  })

  it('leaves open what its successor uses', async () => {
    const sandbox = partOf('sandbox')
    const { host, swap } = hostOf(agentOf('first', sandbox))
    await swap(agentOf('second', sandbox))
    await expect.poll(() => closed).toEqual(['first'])
    await host.close()
    expect(closed.toSorted()).toEqual(['first', 'sandbox', 'second'])
  })

  it('is closed while it runs if four others wait to close, or the server stops', async () => {
    const first = agentOf('0')
    const { host, swap } = hostOf(first)
    let current = first
    for (const name of ['1', '2', '3', '4', '5']) {
      current.users.hold()
      current = agentOf(name)
      await swap(current)
    }
    await expect.poll(() => closed).toEqual(['0'])
    await host.close()
    expect(closed.toSorted()).toEqual(['0', '1', '2', '3', '4', '5'])
  })
})

describe('A swap', () => {
  it('that fails closes only the parts that it opened', async () => {
    const sandbox = partOf('sandbox')
    const { host, swap } = hostOf(agentOf('first', sandbox))
    const failure = new Error('The disk is full')
    await expect(swap(agentOf('second', sandbox), () => Promise.reject(failure))).rejects.toBe(
      failure,
    )
    expect([host.current.name, closed]).toEqual(['first', ['second']])
  })

  it('waits for the previous one', async () => {
    const { host, swap } = hostOf(agentOf('first'))
    const disk = Promise.withResolvers<undefined>()
    const before = swap(agentOf('second'), () => disk.promise)
    const after = swap(agentOf('third'), async () => {
      expect(host.current.name).toBe('second')
    })
    disk.resolve(undefined)
    await Promise.all([before, after])
    expect(host.current.name).toBe('third')
  })

  it('does not begin to answer on a server that stops', async () => {
    const { host } = hostOf(agentOf('first'))
    const opening = Promise.withResolvers<Agent>()
    const swap = host.swap(
      () => opening.promise,
      async () => undefined,
      signal,
    )
    await host.close()
    opening.resolve(agentOf('second'))
    await expect(swap).rejects.toThrow('shutting down')
    expect(closed).toEqual(['first', 'second'])
  })
})
