import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LockFile } from '../../stores/lock-file.ts'
import type { RemoteTool } from './session.ts'

export const MCP_LOCK_FILE = 'mcp-lock'

/** What has been accepted: the digest of each tool definition, by connection and tool name. */
export const McpLock = z.strictObject({
  version: z.literal(1),
  connections: z.record(
    z.string(),
    z.strictObject({ url: z.string(), tools: z.record(z.string(), z.string()) }),
  ),
})
export type McpLock = z.output<typeof McpLock>

export const EMPTY_MCP_LOCK: McpLock = { version: 1, connections: {} }

/** How a tool definition differs from the accepted ones. */
export type ToolChange = 'new' | 'changed'

export type ToolLock = ReturnType<typeof createToolLock>

/** Records the accepted tool definitions of servers, and compares current ones with them. */
export function createToolLock(lockFile: LockFile<McpLock>) {
  return {
    /** Records the current definitions of a connection's tools as accepted. */
    async accept(connection: string, url: string, tools: readonly RemoteTool[]): Promise<void> {
      await lockFile.update((lock) => {
        const known = lock.connections[connection]
        // A tool that is temporarily missing stays accepted.
        const kept = known?.url === url ? known.tools : {}
        return withTools(lock, connection, url, { ...kept, ...digestsOf(tools) })
      })
    },
    /**
     * Returns the changed tools by name. When a connection, or its URL, is seen for the first time, there is nothing to
     * compare with: all of its tools are accepted.
     */
    async compare(
      connection: string,
      url: string,
      tools: readonly RemoteTool[],
    ): Promise<Map<string, ToolChange>> {
      let lock = await lockFile.read()
      if (lock.connections[connection]?.url !== url) {
        lock = await lockFile.update((now) =>
          // Another server process may have just recorded it.
          now.connections[connection]?.url === url
            ? now
            : withTools(now, connection, url, digestsOf(tools)),
        )
      }
      const accepted = lock.connections[connection]?.tools ?? {}
      const changes = new Map<string, ToolChange>()
      for (const [name, digest] of Object.entries(digestsOf(tools))) {
        if (accepted[name] === undefined) changes.set(name, 'new')
        else if (accepted[name] !== digest) changes.set(name, 'changed')
      }
      return changes
    },
  }
}

type Digests = Record<string, string>

function withTools(lock: McpLock, connection: string, url: string, tools: Digests): McpLock {
  return { ...lock, connections: { ...lock.connections, [connection]: { url, tools } } }
}

function digestsOf(tools: readonly RemoteTool[]): Digests {
  return Object.fromEntries(tools.map((tool) => [tool.name, digestOf(tool)]))
}

/** One digest of all tools of a server, in any order; identifies what an operator has reviewed and accepts. */
export function digestOfAll(tools: readonly RemoteTool[]): string {
  return hash('sha256', tools.map(digestOf).toSorted().join('\n'))
}

/** The digest of everything that a model reads of a tool, independent of the order of fields. */
function digestOf({ name, title, description, inputSchema }: RemoteTool): string {
  return hash('sha256', JSON.stringify({ name, title, description, inputSchema }, sorted))
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
