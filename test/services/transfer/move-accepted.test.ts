import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EMPTY_MCP_LOCK, MCP_LOCK_FILE, McpLock } from '../../../src/services/mcp/lock-file.ts'
import { type Accepted, moveAccepted } from '../../../src/services/transfer/move-corpus.ts'
import { fileLockFiles } from '../../../src/stores/files/lock-file.ts'
import { createFileSkillCopies } from '../../../src/stores/files/skill-copies.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const SOURCES = ['https://example.org/a.zip', 'https://example.org/b.zip']
const pinned = (digest: string) => ({ url: 'https://example.org/mcp', tools: { add: digest } })

async function open(connections: McpLock['connections'] = {}): Promise<Accepted> {
  const base = await temporaryDirectory()
  const openLockFile = fileLockFiles(base)
  const lockFile = await openLockFile(MCP_LOCK_FILE, McpLock, EMPTY_MCP_LOCK)
  if (Object.keys(connections).length > 0)
    await lockFile.update(() => ({ version: 1, connections }))
  const directory = join(base, 'skills')
  return { openLockFile, skillCopies: await createFileSkillCopies({ openLockFile, directory }) }
}

const connectionsOf = async ({ openLockFile }: Accepted) =>
  (await (await openLockFile(MCP_LOCK_FILE, McpLock, EMPTY_MCP_LOCK)).read()).connections

describe('What was accepted', () => {
  it('of MCP servers is brought along, and what was accepted there stays', async () => {
    const from = await open({ one: pinned('old'), two: pinned('two') })
    const to = await open({ one: pinned('new') })
    await moveAccepted(from, to, [])
    await moveAccepted(from, to, [])
    expect(await connectionsOf(to)).toEqual({ one: pinned('new'), two: pinned('two') })
    expect(await connectionsOf(from)).toEqual({ one: pinned('old'), two: pinned('two') })
  })

  it('of remote skills is brought along with its copy, and what was accepted there stays', async () => {
    const [from, to] = [await open(), await open()]
    const copyOf = (digest: string) => ({ digest, bytes: Buffer.from(digest) })
    for (const source of SOURCES) await from.skillCopies.keep(source, copyOf('old'), undefined)
    await to.skillCopies.keep('https://example.org/b.zip', copyOf('new'), undefined)
    await moveAccepted(from, to, SOURCES)
    const digests = await Promise.all(SOURCES.map((source) => to.skillCopies.read(source)))
    expect(digests.map((copy) => copy?.digest)).toEqual(['old', 'new'])
    expect(Buffer.from(digests[0]?.bytes ?? []).toString()).toBe('old')
  })

  it('is nothing where nothing was', async () => {
    const [from, to] = [await open(), await open()]
    await moveAccepted(from, to, SOURCES)
    expect(await connectionsOf(to)).toEqual({})
    expect(await to.skillCopies.accepted(SOURCES[0] ?? '')).toBeUndefined()
  })
})
