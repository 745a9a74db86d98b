import { hash } from 'node:crypto'
import type { Accepted, AcceptedTools, SkillCopies, SkillCopy, ToolDigests } from '../accepted.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { bytes, type Read, type Row, readOne, type Tx, text } from './query.ts'

const CONNECTION = 'SELECT url FROM mcp_connections WHERE name = $1'
const TOOLS = 'SELECT name, digest FROM mcp_tools WHERE connection = $1'
const COPY = 'SELECT digest, bytes FROM skill_copies WHERE source = $1'
const DIGEST = 'SELECT digest FROM skill_copies WHERE source = $1'

export function createSkillReads(read: Read): Pick<SkillCopies, 'accepted' | 'read'> {
  return {
    accepted: (source) => readOne(read, DIGEST, [digestOf(source)], (row) => text(row, 'digest')),
    read: (source) =>
      readOne(read, COPY, [digestOf(source)], (row) => ({
        digest: text(row, 'digest'),
        bytes: bytes(row, 'bytes'),
      })),
  }
}

export function createToolReads(read: Read): Pick<AcceptedTools, 'accepted'> {
  return {
    async accepted(connection, url) {
      const [row] = await read(CONNECTION, [connection])
      if (!row || text(row, 'url') !== url) return undefined
      return toDigests(await read(TOOLS, [connection]))
    },
  }
}

const toDigests = (rows: readonly Row[]): ToolDigests =>
  new Map(rows.map((row) => [text(row, 'name'), text(row, 'digest')]))

export function createAcceptedWrites(dialect: Dialect) {
  const isKnown = async (tx: Tx, connection: string, url: string) => {
    await dialect.exclude(tx, 'accepted')
    const row = await tx.one(CONNECTION, [connection])
    return row !== undefined && text(row, 'url') === url
  }
  const acceptAnew = async (tx: Tx, name: string, url: string, tools: ToolDigests) => {
    await tx.run('DELETE FROM mcp_connections WHERE name = $1', [name])
    await insertInto(tx, 'mcp_connections', { name, url })
    await addTools(tx, name, tools)
  }

  return {
    async seeTools(tx: Tx, connection: string, url: string, tools: ToolDigests, mostNew = 0) {
      if (!(await isKnown(tx, connection, url))) {
        await acceptAnew(tx, connection, url, tools)
        return tools
      }
      const accepted = toDigests(await tx.all(TOOLS, [connection]))
      if (accepted.size >= mostNew) return accepted
      const added = new Map([...tools].filter(([name]) => !accepted.has(name)))
      await addTools(tx, connection, added)
      return new Map([...accepted, ...added])
    },

    async acceptTools(tx: Tx, connection: string, url: string, tools: ToolDigests): Promise<void> {
      if (await isKnown(tx, connection, url)) await addTools(tx, connection, tools)
      else await acceptAnew(tx, connection, url, tools)
    },

    async keepSkills(
      tx: Tx,
      source: string,
      copy: SkillCopy,
      expected: string | undefined,
    ): Promise<boolean> {
      await dialect.exclude(tx, 'accepted')
      const row = await tx.one(DIGEST, [digestOf(source)])
      if ((row && text(row, 'digest')) !== expected) return false
      await tx.run('DELETE FROM skill_copies WHERE source = $1', [digestOf(source)])
      await insertInto(tx, 'skill_copies', { source: digestOf(source), ...copy })
      return true
    },
  }
}

async function addTools(tx: Tx, connection: string, tools: ToolDigests): Promise<void> {
  const replaced = 'ON CONFLICT (connection, name) DO UPDATE SET digest = excluded.digest'
  for (const [name, digest] of tools) {
    await insertInto(tx, 'mcp_tools', { connection, name, digest }, replaced)
  }
}

/** Sources may be longer than a key of an index. */
function digestOf(source: string): string {
  return hash('sha256', source)
}

export async function readAccepted(tx: Tx): Promise<Accepted> {
  const connections = await tx.all('SELECT name, url FROM mcp_connections')
  const tools = await tx.all('SELECT connection, name, digest FROM mcp_tools')
  const copies = await tx.all('SELECT source, digest, bytes FROM skill_copies')
  return {
    connections: connections.map((row) => ({ name: text(row, 'name'), url: text(row, 'url') })),
    tools: tools.map((row) => ({
      connection: text(row, 'connection'),
      name: text(row, 'name'),
      digest: text(row, 'digest'),
    })),
    copies: copies.map((row) => ({
      source: text(row, 'source'),
      digest: text(row, 'digest'),
      bytes: bytes(row, 'bytes'),
    })),
  }
}

/** Adds what was accepted elsewhere; what was accepted here of the same connections and sources stays. */
export async function addAccepted(tx: Tx, { connections, tools, copies }: Accepted): Promise<void> {
  for (const { name, url } of connections) {
    const added = 'ON CONFLICT (name) DO NOTHING RETURNING name'
    const isNew = (await insertInto(tx, 'mcp_connections', { name, url }, added)).length > 0
    const newTools = isNew ? tools.filter(({ connection }) => connection === name) : []
    for (const tool of newTools) await insertInto(tx, 'mcp_tools', { ...tool })
  }
  for (const copy of copies) {
    await insertInto(tx, 'skill_copies', { ...copy }, 'ON CONFLICT (source) DO NOTHING')
  }
}
