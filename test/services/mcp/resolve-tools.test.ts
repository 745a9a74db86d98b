import { describe, expect, it } from 'vitest'
import type { ToolChange } from '../../../src/services/mcp/lock-file.ts'
import type { RemoteTool } from '../../../src/services/mcp/session.ts'
import { resolveTools } from '../../../src/services/mcp/tools.ts'

const NO_CHANGES = new Map<string, ToolChange>()

function tool(name: string, inputSchema: RemoteTool['inputSchema'] = { type: 'object' }) {
  return { name, description: `Does ${name}`, inputSchema }
}

/** A schema of so many levels. */
function deep(levels: number): RemoteTool['inputSchema'] {
  const inside = `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`
  return { type: 'object', properties: JSON.parse(inside) }
}

describe('the tools of a server', () => {
  it('are all taken where nothing speaks against them', () => {
    expect(resolveTools([tool('a'), tool('b')], undefined, NO_CHANGES)).toEqual([
      { remote: tool('a'), off: false },
      { remote: tool('b'), off: false },
    ])
  })

  it('are each taken once, the first of a name', () => {
    const second = { ...tool('a'), description: 'Does something else' }
    const resolved = resolveTools([tool('a'), second], undefined, NO_CHANGES)
    expect(resolved.map(({ remote }) => remote.description)).toEqual(['Does a'])
  })

  it.each<[readonly string[], string[]]>([
    [['a'], ['b', 'c']],
    [[], ['a', 'b', 'c']],
    [['A'], ['a', 'b', 'c']],
    [['a', 'b', 'c', 'other'], []],
  ])('are off where the configuration allows only %j', (allowed, off) => {
    const resolved = resolveTools([tool('a'), tool('b'), tool('c')], allowed, NO_CHANGES)
    expect(resolved.filter((one) => one.off).map(({ remote }) => remote.name)).toEqual(off)
  })

  it.each<[ToolChange, RegExp]>([
    ['new', /has added this tool/],
    ['changed', /definition has changed/],
  ])('are refused where they are %s, and it is said how to accept them', (change, reason) => {
    const [resolved] = resolveTools([tool('a')], undefined, new Map([['a', change]]))
    expect(resolved?.refusal).toMatch(reason)
    expect(resolved?.refusal).toContain('"accept": true')
  })

  it.each([
    ['too large', { type: 'object' as const, description: 'x'.repeat(60_000) }],
    ['too deep', deep(150)],
  ])('are refused with a schema that is %s', (_case, schema) => {
    const [resolved] = resolveTools([tool('a', schema)], undefined, NO_CHANGES)
    expect(resolved?.refusal).toMatch(/too large or too deep/)
  })

  it('may have schemas of some size and depth', () => {
    const schema = { ...deep(20), description: 'x'.repeat(10_000) }
    expect(resolveTools([tool('a', schema)], undefined, NO_CHANGES)[0]?.refusal).toBeUndefined()
  })

  it('are at most a hundred and twenty-eight', () => {
    const many = Array.from({ length: 200 }, (_, index) => tool(`tool-${index}`))
    expect(resolveTools(many, undefined, NO_CHANGES)).toHaveLength(128)
  })
})
