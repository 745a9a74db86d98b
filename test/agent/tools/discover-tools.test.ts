import { describe, expect, it } from 'vitest'
import type { Tool } from '../../../src/agent/tools/define-tool.ts'
import {
  createDiscovery,
  toModelTool,
  toolTokens,
} from '../../../src/agent/tools/discover-tools.ts'
import { toolAnswering } from '../run/agent-for-test.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()
const named = (name: string, description: string, source = 'mcp:a'): Tool => ({
  ...toolAnswering(name, name),
  description,
  source,
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
  discovery.search.run({ query, limit }, createContext(), signal)

describe('Few tools', () => {
  it('are all offered, without a search tool', () => {
    const tools = crowd(40)
    expect(createDiscovery(tools).offered()).toEqual(tools)
  })
})

describe('Many tools', () => {
  it('are found with a search tool offered beside those of the server', () => {
    expect(names(createDiscovery(MANY).offered())).toEqual(['look', 'read_skill', 'search_tools'])
  })

  it('can be called once they are found, the best first', async () => {
    const discovery = createDiscovery(MANY)
    expect(await search(discovery, 'create an invoice')).toBe(
      'You can call these now:\n- mcp__a__createInvoice: Makes a bill for a customer\n- mcp__b__list_bills: All invoices of a year',
    )
    expect(names(discovery.offered()).slice(3)).toEqual([
      'mcp__a__createInvoice',
      'mcp__b__list_bills',
    ])
  })

  it('stay available, and are listed once', async () => {
    const discovery = createDiscovery(MANY)
    await search(discovery, 'invoice', 1)
    await search(discovery, 'bills of a customer')
    expect(names(discovery.offered())).toHaveLength(5)
  })

  it('are not found by words that no tool has', async () => {
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

describe('In a small window', () => {
  const OWN = [
    named('semantic_search', 'Searches', 'builtin'),
    named('query_table', 'Asks tables with SQL. '.repeat(20), 'builtin'),
    named('read_document', 'Reads', 'builtin'),
    named('activate_skill', 'Activates', 'skill'),
    named('mcp__a__createInvoice', 'Makes a bill for a customer'),
  ]
  const tokensOf = (tools: readonly Tool[]) => toolTokens(tools.map(toModelTool))
  const most = tokensOf(createDiscovery(OWN).offered())
  const within = (tokens: number, discovery = createDiscovery(OWN)) =>
    names(discovery.offered(tokens))
  const CORE = ['semantic_search', 'read_document', 'activate_skill']

  it('the tools take no more than their tokens, and those that answer most questions stay', () => {
    expect(within(most)).toEqual(names(OWN))
    expect(within(most - 1)).toEqual([...CORE, 'search_tools'])
    for (let tokens = 0; tokens <= most; tokens += 7) {
      const offered = createDiscovery(OWN).offered(tokens)
      expect(tokensOf(offered)).toBeLessThanOrEqual(tokens)
    }
    expect(within(tokensOf(OWN.slice(0, 1)))).toEqual(['semantic_search'])
    expect(within(10)).toEqual([])
  })

  it('those of connections are hidden before those of the server', () => {
    const own = OWN.slice(0, 4)
    const tools = [...own, ...crowd(10)]
    expect(within(tokensOf(tools) - 1, createDiscovery(tools))).toEqual([
      ...names(own),
      'search_tools',
    ])
  })

  it('the model is told which others there are, and offered what it finds', async () => {
    const discovery = createDiscovery(OWN)
    const search = discovery.offered(most - 1).at(-1)
    expect(search?.description).toContain('query_table, mcp__a__createInvoice')
    await search?.run({ query: 'make a bill' }, createContext(), signal)
    expect(within(most - 1, discovery)).toEqual([...CORE, 'search_tools', 'mcp__a__createInvoice'])
  })

  it('what was found last is offered before what was found first', async () => {
    const discovery = createDiscovery(OWN)
    await search(discovery, 'sql')
    await search(discovery, 'bill')
    const room = tokensOf(discovery.offered(most))
    expect(within(room - 1, discovery)).toEqual([...CORE, 'search_tools', 'mcp__a__createInvoice'])
  })
})
