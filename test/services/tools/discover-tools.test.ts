import { describe, expect, it } from 'vitest'
import type { Tool } from '../../../src/services/tools/define-tool.ts'
import { createDiscovery } from '../../../src/services/tools/discover-tools.ts'
import { toolAnswering } from '../agent/agent-for-test.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()
const named = (name: string, description: string, source = 'mcp:a'): Tool => ({
  ...toolAnswering(name, name),
  ...{ description, source },
})
const crowd = (count: number) =>
  Array.from({ length: count }, (_, n) => named(`mcp__a__noise${n}`, 'Does nothing of use'))
const MANY = [
  named('look', 'Looks', 'builtin'),
  named('read_skill', 'Reads a skill', 'skill'),
  ...crowd(60),
  named('mcp__a__createInvoice', 'Makes a bill for a customer'),
  named('mcp__b__list_bills', 'All invoices of a year'),
]

const names = (tools: readonly Tool[]) => tools.map(({ name }) => name)
const search = (discovery: ReturnType<typeof createDiscovery>, query: string, limit = 10) =>
  discovery.search?.run({ query, limit }, createContext(), signal)

describe('Few tools', () => {
  it('are all offered, and none to search for them', () => {
    const tools = crowd(40)
    const { offered, search: finder } = createDiscovery(tools)
    expect(offered()).toEqual(tools)
    expect(finder).toBeUndefined()
  })
})

describe('Many tools', () => {
  it('are found by one that is offered beside those of the server', () => {
    expect(names(createDiscovery(MANY).offered())).toEqual(['look', 'read_skill', 'search_tools'])
  })

  it('can be called once they are found, the best first', async () => {
    const discovery = createDiscovery(MANY)
    expect(await search(discovery, 'create an invoice')).toBe(
      'You can call these now:\n- mcp__a__createInvoice: Makes a bill for a customer\n- mcp__b__list_bills: All invoices of a year',
    )
    expect(names(discovery.offered()).slice(3)).toEqual([
      ...['mcp__a__createInvoice', 'mcp__b__list_bills'],
    ])
  })

  it('stay found, and are found once', async () => {
    const discovery = createDiscovery(MANY)
    await search(discovery, 'invoice', 1)
    await search(discovery, 'bills of a customer')
    expect(names(discovery.offered())).toHaveLength(5)
  })

  it('are not found by words that none has', async () => {
    const discovery = createDiscovery(MANY)
    expect(await search(discovery, 'zebra')).toBe('No tool fits. Try other words.')
    expect(discovery.offered()).toHaveLength(3)
  })

  it('that are found are bounded in number', async () => {
    const discovery = createDiscovery([...MANY, ...crowd(100)])
    for (let time = 0; time < 20; time += 1) await search(discovery, 'noise nothing use', 20)
    expect(discovery.offered().length).toBeLessThanOrEqual(63)
  })

  it('are not shared between runs', async () => {
    await search(createDiscovery(MANY), 'invoice')
    expect(createDiscovery(MANY).offered()).toHaveLength(3)
  })
})
