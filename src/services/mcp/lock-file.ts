import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LockFile } from '../../stores/lock-file.ts'
import type { RemoteTool } from './session.ts'

/** The name of the lock file. */
export const MCP_LOCK_FILE = 'mcp-lock'

/** What has been accepted: the digest of each tool's definition, by connection and tool. */
export const McpPins = z.strictObject({
  version: z.literal(1),
  connections: z.record(
    z.string(),
    z.strictObject({ url: z.string(), tools: z.record(z.string(), z.string()) }),
  ),
})
export type McpPins = z.output<typeof McpPins>

export const NO_PINS: McpPins = { version: 1, connections: {} }

/** How a definition differs from what was accepted. */
export type Change = 'new' | 'changed'

export interface Pins {
  /**
   * The changes, by the names of tools. Where a connection, or its address, is seen for the first time, there
   * is nothing to compare with: what it has is accepted.
   */
  compare(
    connection: string,
    url: string,
    tools: readonly RemoteTool[],
  ): Promise<Map<string, Change>>
  accept(connection: string, url: string, tools: readonly RemoteTool[]): Promise<void>
}

export function createPins(lockFile: LockFile<McpPins>): Pins {
  const digestsOf = (tools: readonly RemoteTool[]) =>
    Object.fromEntries(tools.map((tool) => [tool.name, digestOf(tool)]))

  return {
    async accept(connection, url, tools) {
      await lockFile.update((pins) => {
        const known = pins.connections[connection]
        // A tool that is away for now stays accepted.
        const kept = known?.url === url ? known.tools : {}
        return withConnection(pins, connection, { url, tools: { ...kept, ...digestsOf(tools) } })
      })
    },
    async compare(connection, url, tools) {
      let pins = await lockFile.read()
      if (pins.connections[connection]?.url !== url) {
        pins = await lockFile.update((now) =>
          // Another server may just have seen it for the first time, too.
          now.connections[connection]?.url === url
            ? now
            : withConnection(now, connection, { url, tools: digestsOf(tools) }),
        )
      }
      const known = pins.connections[connection]?.tools ?? {}
      return new Map(tools.flatMap((tool) => changeOf(tool, known[tool.name])))
    },
  }
}

function withConnection(
  { version, connections }: McpPins,
  name: string,
  connection: McpPins['connections'][string],
): McpPins {
  return { version, connections: { ...connections, [name]: connection } }
}

function changeOf(tool: RemoteTool, accepted: string | undefined): [string, Change][] {
  if (accepted === undefined) return [[tool.name, 'new']]
  return accepted === digestOf(tool) ? [] : [[tool.name, 'changed']]
}

/** Of all that a model reads, whatever the order of its fields. */
function digestOf({ name, title, description, inputSchema }: RemoteTool): string {
  return hash('sha256', JSON.stringify({ name, title, description, inputSchema }, sorted))
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
