import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import type { Environment } from '../../lib/environment.ts'
import type { Capabilities } from '../../schemas/agent.ts'
import type { McpTestRequest, McpTestResult } from '../../schemas/mcp.ts'
import type { Artifacts } from '../tools/artifacts.ts'
import type { Tool } from '../tools/define-tool.ts'
import { type Connection, createConnection } from './connection.ts'
import type { LinkLog } from './link.ts'
import type { Pins } from './lock-file.ts'
import type { Fetch } from './session.ts'
import type { McpServer } from './settings.ts'
import { testConnection } from './test-connection.ts'

/** A server that answered this lately is believed to be there. */
const BELIEVED_MS = 5_000
/** Whoever asks for the state of the connections waits no longer. */
const LOOK_MS = 1_000

interface Dependencies {
  servers: Readonly<Record<string, McpServer>>
  environment: Environment
  fetch: Fetch
  pins: Pins
  /** Takes the files of the tools that are tried. */
  artifacts: () => Artifacts
  log: LinkLog
}

type McpRecord = Capabilities['mcp'][number]

export interface Mcp {
  /** Begins to connect to every server and waits for none. */
  start(): void
  /** The tools of the servers that are known by now. */
  tools(): readonly Tool[]
  /** Each connection as it is found at this moment. */
  records(): Promise<McpRecord[]>
  /** Throws `connection_not_found`. */
  test(connection: string, request: McpTestRequest, signal: AbortSignal): Promise<McpTestResult>
  close(): Promise<void>
}

/** The connections to MCP servers, none of which can hold up or break another. */
export function createMcp({ servers, artifacts, ...shared }: Dependencies): Mcp {
  const connect = (name: string, settings: McpServer) =>
    createConnection({ name, settings, ...shared })
  const connections = Object.entries(servers).map(([name, settings]) => connect(name, settings))
  const enabled = connections.filter(({ settings }) => settings.enabled)

  return {
    start() {
      for (const { link } of enabled) link.start()
    },
    tools: () =>
      enabled.flatMap((connection) =>
        connection.judged().flatMap(({ off, tool }) => (off ? [] : [tool])),
      ),
    records: () => Promise.all(connections.map(look)),
    async test(name, request, signal) {
      const known = connections.find((connection) => connection.name === name)
      if (!known) throw new AppError('connection_not_found', `There is no connection "${name}"`)
      if (known.settings.enabled) return testConnection(known, request, artifacts(), signal)
      const tried = connect(name, known.settings)
      try {
        return await testConnection(tried, request, artifacts(), signal)
      } finally {
        await tried.link.close()
      }
    },
    async close() {
      await Promise.all(connections.map(({ link }) => link.close()))
    },
  }
}

async function look({ name, settings, link, judged }: Connection): Promise<McpRecord> {
  const record = { name, url: settings.url }
  if (!settings.enabled) return { ...record, state: 'off' }
  const late = AbortSignal.timeout(LOOK_MS)
  // What fails here is told by `session` and `reason`.
  if (link.session) {
    await untilAborted(link.prove(BELIEVED_MS), late).catch(() => undefined)
  }
  const { session } = link
  if (!session) return { ...record, state: 'unavailable', reason: link.reason }
  if (late.aborted) return { ...record, state: 'unavailable', reason: SILENT }
  const used = judged().filter(({ off }) => !off)
  const waiting = used.flatMap(({ refusal, tool }) => (refusal === undefined ? [] : [tool.name]))
  const { transport, protocol } = session
  return {
    ...record,
    state: 'on',
    transport,
    protocol,
    tools: used.length - waiting.length,
    waiting,
  }
}

const SILENT = `Did not answer within ${LOOK_MS} ms`
