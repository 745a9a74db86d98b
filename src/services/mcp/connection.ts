import { ProtocolError } from '@modelcontextprotocol/client'
import { untilAborted } from '../../lib/abort.ts'
import type { Environment } from '../../lib/environment.ts'
import { freeObject } from '../../schemas/fields.ts'
import type { Artifacts } from '../tools/artifacts.ts'
import type { Tool, ToolContext } from '../tools/define-tool.ts'
import { ToolFailure, ToolInputError } from '../tools/tool-error.ts'
import { explainFailure } from './explain-failure.ts'
import { Link, type LinkLog } from './link.ts'
import type { Pins } from './lock-file.ts'
import { type Fetch, type RemoteCall, type RemoteTool, toSessionTarget } from './session.ts'
import type { McpServer } from './settings.ts'
import { type JudgedTool, judgeTools, mcpToolName, readResult } from './tools.ts'

/** A call that progresses may take as long, in all. */
const CALL_MS = 620_000
/** A server that was silent for longer is asked for its tools before one is called. */
const TRUSTED_MS = 30_000
const MAX_DESCRIPTION = 4_000
/** UTF-16 code units of a server's own words on a call that it refuses. */
const MAX_MESSAGE = 1_000

interface ConnectionOptions {
  name: string
  settings: McpServer
  environment: Environment
  fetch: Fetch
  pins: Pins
  log: LinkLog
}

export interface OfferedTool extends JudgedTool {
  /** As the model may be offered it. */
  tool: Tool
}

/** One MCP server and the tools that it brings. */
export interface Connection extends Pick<ConnectionOptions, 'name' | 'settings'> {
  link: Pick<Link, 'session' | 'reason' | 'prove' | 'start' | 'close'>
  /** Throws where a variable is missing. */
  checkSettings(): void
  /** Every tool that was last seen. */
  judged(): readonly OfferedTool[]
  /** Accepts the definitions that were last seen. */
  accept(): Promise<void>
}

export function createConnection(options: ConnectionOptions): Connection {
  const { name, settings, environment, fetch, pins, log } = options
  const target = () => toSessionTarget(settings, environment, fetch)
  const link = new Link({ name, target, onTools, log })
  let judged: OfferedTool[] = []

  async function onTools(remotes: readonly RemoteTool[]): Promise<void> {
    const changes = await pins.compare(name, settings.url, remotes)
    for (const [tool, change] of changes) {
      if (judged.some(({ remote, refusal }) => remote.name === tool && refusal)) continue
      log.warn({ connection: name, tool, change }, 'MCP tool waits to be accepted')
    }
    judged = judgeTools(remotes, settings.allowTools, changes).map((one) => ({
      ...one,
      tool: toTool(one),
    }))
  }

  function toTool({ remote, refusal }: JudgedTool): Tool {
    const { description = '', inputSchema } = remote
    const { $schema: _dialect, ...schema } = inputSchema
    return {
      name: mcpToolName(name, remote.name),
      title: remote.title ?? remote.annotations?.title ?? remote.name,
      description: description.slice(0, MAX_DESCRIPTION),
      source: `mcp:${name}`,
      inputSchema: { properties: {}, ...schema },
      deadlineMs: CALL_MS,
      unavailable: () => (link.session ? refusal : link.reason),
      run: (input, context, signal) => run(remote.name, input, context, signal),
    }
  }

  /** The tool as the server has it now, if it may still be used. Throws `ToolFailure`. */
  async function current(tool: string, signal: AbortSignal): Promise<RemoteTool> {
    await untilAborted(link.prove(TRUSTED_MS), signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new ToolFailure(explainFailure(error), { cause: error })
    })
    const found = judged.find(({ remote }) => remote.name === tool)
    if (!found) throw new ToolFailure('The server no longer has this tool')
    if (found.refusal) throw new ToolFailure(found.refusal)
    return found.remote
  }

  async function run(
    name: string,
    input: unknown,
    { artifacts }: Pick<ToolContext, 'artifacts'>,
    signal: AbortSignal,
  ): Promise<string> {
    const parsed = Input.safeParse(input)
    if (!parsed.success) throw new ToolInputError('The arguments must be an object')
    const tool = await current(name, signal)
    const call = { tool, input: parsed.data, idleMs: settings.timeout * 1_000 }
    return callRemote(link, call, artifacts, signal)
  }

  return {
    ...{ name, settings, link },
    checkSettings: () => void target(),
    judged: () => judged,
    async accept() {
      const remotes = judged.map(({ remote }) => remote)
      await pins.accept(name, settings.url, remotes)
      await onTools(remotes)
    },
  }
}

const Input = freeObject()

/** What the model reads of a call. Throws `ToolFailure`, and what `signal` was aborted with. */
async function callRemote(
  link: Link,
  call: RemoteCall,
  artifacts: Artifacts,
  signal: AbortSignal,
): Promise<string> {
  try {
    const result = await link.call(call, signal)
    const readResource = (uri: string) => link.readResource(uri, signal)
    const text = await readResult(result, { artifacts, readResource }, signal)
    if (result.isError) throw new ToolFailure(text)
    return text
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ToolFailure) throw error
    throw new ToolFailure(explainCall(error), { cause: error })
  }
}

/** A refusal in the server's own words, which tell the model what to mend; any other failure in ours. */
function explainCall(error: unknown): string {
  if (!(error instanceof ProtocolError)) return explainFailure(error)
  return `${explainFailure(error)}: ${error.message.slice(0, MAX_MESSAGE)}`
}
