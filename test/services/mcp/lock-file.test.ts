import { describe, expect, it } from 'vitest'
import {
  createToolLock,
  EMPTY_MCP_LOCK,
  MCP_LOCK_FILE,
  McpLock,
} from '../../../src/services/mcp/lock-file.ts'
import type { RemoteTool } from '../../../src/services/mcp/session.ts'
import { fileLockFiles } from '../../../src/stores/files/lock-file.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const URL = 'https://example.org/mcp'

function tool(name: string, more: Partial<RemoteTool> = {}): RemoteTool {
  return { name, description: 'Does it', inputSchema: { type: 'object' }, ...more }
}

async function openLock() {
  const openLockFile = fileLockFiles(await temporaryDirectory())
  const open = async () =>
    createToolLock(await openLockFile(MCP_LOCK_FILE, McpLock, EMPTY_MCP_LOCK))
  return { open, toolLock: await open() }
}

describe('the definitions of a connection', () => {
  it('are accepted the first time, and the same ones from then on', async () => {
    const { toolLock, open } = await openLock()
    expect(await toolLock.compare('one', URL, [tool('a')])).toEqual(new Map())
    expect(await (await open()).compare('one', URL, [tool('a')])).toEqual(new Map())
  })

  it.each<[string, RemoteTool, string]>([
    ['another description', tool('a', { description: 'Does more' }), 'changed'],
    ['another title', tool('a', { title: 'A' }), 'changed'],
    ['another schema', tool('a', { inputSchema: { type: 'object', required: ['b'] } }), 'changed'],
    ['another name', tool('b'), 'new'],
  ])('are told to differ with %s, until they are accepted', async (_case, other, change) => {
    const { toolLock, open } = await openLock()
    await toolLock.compare('one', URL, [tool('a')])
    expect(await toolLock.compare('one', URL, [other])).toEqual(new Map([[other.name, change]]))
    expect(await (await open()).compare('one', URL, [other])).toEqual(
      new Map([[other.name, change]]),
    )
    await toolLock.accept('one', URL, [other])
    expect(await toolLock.compare('one', URL, [other])).toEqual(new Map())
  })

  it('are the same in another order of their fields', async () => {
    const { toolLock } = await openLock()
    const properties = { x: { type: 'string', title: 'X' }, y: { type: 'number' } }
    const turned = { y: { type: 'number' }, x: { title: 'X', type: 'string' } }
    await toolLock.compare('one', URL, [tool('a', { inputSchema: { type: 'object', properties } })])
    const again = tool('a', { inputSchema: { properties: turned, type: 'object' } })
    expect(await toolLock.compare('one', URL, [again])).toEqual(new Map())
  })

  it('stay accepted while a tool is away', async () => {
    const { toolLock } = await openLock()
    await toolLock.compare('one', URL, [tool('a'), tool('b')])
    await toolLock.compare('one', URL, [tool('b')])
    await toolLock.accept('one', URL, [tool('b')])
    expect(await toolLock.compare('one', URL, [tool('a'), tool('b')])).toEqual(new Map())
  })

  it('begin anew at another address, and say nothing of another connection', async () => {
    const { toolLock } = await openLock()
    await toolLock.compare('one', URL, [tool('a')])
    expect(await toolLock.compare('two', URL, [tool('b')])).toEqual(new Map())
    expect(await toolLock.compare('one', `${URL}/2`, [tool('c')])).toEqual(new Map())
  })

  it('are the same to another server that sees them at the same time', async () => {
    const lockFile = await fileLockFiles(await temporaryDirectory())(
      'mcp-lock',
      McpLock,
      EMPTY_MCP_LOCK,
    )
    const late: typeof lockFile = { ...lockFile, read: async () => EMPTY_MCP_LOCK }
    await createToolLock(lockFile).compare('one', URL, [tool('a')])
    const other = [tool('a', { description: 'Does more' }), tool('b')]
    expect(await createToolLock(late).compare('one', URL, other)).toEqual(
      new Map([
        ['a', 'changed'],
        ['b', 'new'],
      ]),
    )
  })
})
