import { describe, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import type { RemoteTool } from '../../../src/agent/mcp/session.ts'
import { createToolLock } from '../../../src/agent/mcp/tool-lock.ts'

const openSqliteStore = useSqliteStores()

const URL = 'https://example.org/mcp'

function tool(name: string, more: Partial<RemoteTool> = {}): RemoteTool {
  return { name, description: 'Does it', inputSchema: { type: 'object' }, ...more }
}

async function openLock() {
  const { acceptedTools } = await openSqliteStore()
  return createToolLock(acceptedTools)
}

describe('the definitions of a connection', () => {
  it('are accepted the first time, and the same ones from then on', async () => {
    const toolLock = await openLock()
    expect(await toolLock.compare('one', URL, [tool('a')])).toEqual(new Map())
    expect(await toolLock.compare('one', URL, [tool('a')])).toEqual(new Map())
  })

  it.each<[string, RemoteTool, string]>([
    ['another description', tool('a', { description: 'Does more' }), 'changed'],
    ['another title', tool('a', { title: 'A' }), 'changed'],
    ['another schema', tool('a', { inputSchema: { type: 'object', required: ['b'] } }), 'changed'],
    ['another name', tool('b'), 'new'],
  ])('are told to differ with %s, until they are accepted', async (_case, other, change) => {
    const toolLock = await openLock()
    await toolLock.compare('one', URL, [tool('a')])
    expect(await toolLock.compare('one', URL, [other])).toEqual(new Map([[other.name, change]]))
    expect(await toolLock.compare('one', URL, [other])).toEqual(new Map([[other.name, change]]))
    await toolLock.accept('one', URL, [other])
    expect(await toolLock.compare('one', URL, [other])).toEqual(new Map())
  })

  it('are the same in another order of their fields', async () => {
    const toolLock = await openLock()
    const properties = { x: { type: 'string', title: 'X' }, y: { type: 'number' } }
    const turned = { y: { type: 'number' }, x: { title: 'X', type: 'string' } }
    await toolLock.compare('one', URL, [tool('a', { inputSchema: { type: 'object', properties } })])
    const again = tool('a', { inputSchema: { properties: turned, type: 'object' } })
    expect(await toolLock.compare('one', URL, [again])).toEqual(new Map())
  })

  it('stay accepted while a tool is away', async () => {
    const toolLock = await openLock()
    await toolLock.compare('one', URL, [tool('a'), tool('b')])
    await toolLock.compare('one', URL, [tool('b')])
    await toolLock.accept('one', URL, [tool('b')])
    expect(await toolLock.compare('one', URL, [tool('a'), tool('b')])).toEqual(new Map())
  })

  it('are new at another address, and independent of other connections', async () => {
    const toolLock = await openLock()
    await toolLock.compare('one', URL, [tool('a')])
    expect(await toolLock.compare('two', URL, [tool('b')])).toEqual(new Map())
    expect(await toolLock.compare('one', `${URL}/2`, [tool('c')])).toEqual(new Map())
  })
})

it('Of two people who see a new tool at once, as different ones, the first is right', async () => {
  const toolLock = await openLock()
  await toolLock.compare('one', URL, [tool('a')], true)
  const seen = ['Reads mail', 'Deletes mail'].map((description) =>
    toolLock.compare('one', URL, [tool('mail', { description })], true),
  )
  const changes = (await Promise.all(seen)).map((each) => each.get('mail'))
  expect(changes.toSorted()).toEqual(['changed', undefined])
})
