import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import type { Capabilities } from '../../schemas/agent.ts'
import type { McpTestRequest, McpTestResult } from '../../schemas/mcp.ts'
import type { Artifacts } from '../tools/artifacts.ts'
import type { Tool } from '../tools/define-tool.ts'
import { createRemoteServer, type RemoteServer, type RemoteServerOptions } from './remote-server.ts'
import type { McpServer } from './settings.ts'
import { testConnection } from './test-connection.ts'

/** A server that answered this lately is believed to be there. */
const BELIEVED_MS = 5_000
/** Whoever asks for the state of the connections waits no longer. */
const LOOK_MS = 1_000

interface Dependencies extends Omit<RemoteServerOptions, 'name' | 'settings'> {
  servers: Readonly<Record<string, McpServer>>
  /** Takes the files of the tools that are tried. */
  artifacts: () => Artifacts
}

type McpRecord = Capabilities['mcp'][number]

export type Mcp = ReturnType<typeof createMcp>

/** The connections to MCP servers, none of which can hold up or break another. */
export function createMcp({ servers, artifacts, ...shared }: Dependencies) {
  const create = (name: string, settings: McpServer) =>
    createRemoteServer({ name, settings, ...shared })
  const all = Object.entries(servers).map(([name, settings]) => create(name, settings))
  const enabled = all.filter(({ settings }) => settings.enabled)

  return {
    /** Begins to connect to every server and waits for none. */
    start(): void {
      for (const { connection } of enabled) connection.start()
    },
    /** The tools of the servers that are known by now. */
    tools: (): readonly Tool[] =>
      enabled.flatMap((server) => server.tools().flatMap(({ off, tool }) => (off ? [] : [tool]))),
    /** Each connection as it is found at this moment. */
    records: (): Promise<McpRecord[]> => Promise.all(all.map(toRecord)),
    /** Throws `connection_not_found`. */
    async test(name: string, request: McpTestRequest, signal: AbortSignal): Promise<McpTestResult> {
      const known = all.find((server) => server.name === name)
      if (!known) throw new AppError('connection_not_found', `There is no connection "${name}"`)
      const tried = known.settings.enabled ? known : create(name, known.settings)
      try {
        return await testConnection(tried, request, artifacts(), signal)
      } finally {
        if (tried !== known) await tried.connection.close()
      }
    },
    async close(): Promise<void> {
      await Promise.all(all.map(({ connection }) => connection.close()))
    },
  }
}

async function toRecord({ name, settings, connection, tools }: RemoteServer): Promise<McpRecord> {
  const record = { name, url: settings.url }
  if (!settings.enabled) return { ...record, state: 'off' }
  const late = AbortSignal.timeout(LOOK_MS)
  // What fails here shows in `session` and `reason`.
  if (connection.session) {
    await untilAborted(connection.prove(BELIEVED_MS), late).catch(() => undefined)
  }
  const { session } = connection
  if (!session || late.aborted) {
    const reason = session ? `Did not answer within ${LOOK_MS} ms` : connection.reason
    return { ...record, state: 'unavailable', reason }
  }
  const used = tools().filter(({ off }) => !off)
  const waiting = used.flatMap(({ refusal, tool }) => (refusal === undefined ? [] : [tool.name]))
  const { transport, protocol } = session
  const usable = used.length - waiting.length
  return { ...record, state: 'on', transport, protocol, tools: usable, waiting }
}
