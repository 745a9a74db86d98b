import { hash } from 'node:crypto'
import type { AcceptedTools, ToolDigests } from '@agent-server/stores'
import type { RemoteTool } from './session.ts'

/** How a tool definition differs from the accepted ones. */
export type ToolChange = 'new' | 'changed'

/** Names of tools, over all people, after which further ones have to be accepted. */
const MAX_PERSONAL = 1_000

export type ToolLock = ReturnType<typeof createToolLock>

/** Records the accepted tool definitions of servers, and compares current ones with them. */
export function createToolLock(store: Pick<AcceptedTools, 'see' | 'accept'>) {
  return {
    /** Records the current definitions of a connection's tools as accepted. */
    accept: (connection: string, url: string, tools: readonly RemoteTool[]) =>
      store.accept(connection, url, digestsOf(tools)),
    /**
     * Returns the changed tools by name. When a connection, or its URL, is seen for the first time, there is nothing to
     * compare with: all of its tools are accepted. Where people see different tools (`isPersonal`), so are names that
     * nobody has seen before.
     */
    async compare(
      connection: string,
      url: string,
      tools: readonly RemoteTool[],
      isPersonal = false,
    ): Promise<Map<string, ToolChange>> {
      const current = digestsOf(tools)
      const accepted = await store.see(connection, url, current, isPersonal ? MAX_PERSONAL : 0)
      return changesOf(current, accepted)
    },
  }
}

function changesOf(current: ToolDigests, accepted: ToolDigests): Map<string, ToolChange> {
  const changed = [...current].filter(([name, digest]) => accepted.get(name) !== digest)
  return new Map(changed.map(([name]) => [name, accepted.has(name) ? 'changed' : 'new']))
}

function digestsOf(tools: readonly RemoteTool[]): ToolDigests {
  return new Map(tools.map((tool) => [tool.name, digestOf(tool)]))
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
