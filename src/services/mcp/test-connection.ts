import { untilAborted } from '../../lib/abort.ts'
import type { McpTestRequest, McpTestResult, McpTestStep } from '../../schemas/mcp.ts'
import { createCitations } from '../agent/citations.ts'
import type { Artifacts } from '../tools/artifacts.ts'
import { ToolFailure, ToolInputError } from '../tools/tool-error.ts'
import { explainFailure } from './explain-failure.ts'
import { digestOfAll } from './lock-file.ts'
import type { OfferedTool, RemoteServer } from './remote-server.ts'

/** A connection made a moment ago is not made again. */
const CONNECTED_MS = 3_600_000

const OTHER_TOOLS =
  'Nothing was accepted: send the `digest` of the definitions that you have looked at, as this answer has it'

/** Goes the way that chat goes, step by step, until one fails. Throws what `signal` was aborted with alone. */
export async function testConnection(
  server: RemoteServer,
  request: McpTestRequest,
  artifacts: Artifacts,
  signal: AbortSignal,
): Promise<McpTestResult> {
  const { name, connection } = server
  const steps: McpTestStep[] = []
  let output: string | undefined

  /** Answers whether the step succeeded, which `work` may say more about. */
  async function step(name: McpTestStep['step'], work: () => Promise<string | undefined>) {
    const started = performance.now()
    const done = (ok: boolean, message: string | undefined) => {
      const milliseconds = Math.round(performance.now() - started)
      steps.push({ step: name, ok, milliseconds, ...(message !== undefined && { message }) })
      return ok
    }
    try {
      return done(true, await untilAborted(work(), signal))
    } catch (error) {
      signal.throwIfAborted()
      return done(false, explain(error))
    }
  }

  async function call(wanted: string): Promise<string | undefined> {
    const found = server.tools().find(({ remote }) => remote.name === wanted)
    if (!found) throw new ToolFailure(`The server has no tool "${wanted}"`)
    const context = { artifacts, citations: createCitations(), conversation: `test of ${name}` }
    output = await found.tool.run(request.arguments, context, signal)
    return undefined
  }

  const digest = () => digestOfAll(server.tools().map(({ remote }) => remote))

  /** What was looked at, and nothing that came since. */
  async function accept(): Promise<undefined> {
    if (request.digest !== digest()) throw new ToolFailure(OTHER_TOOLS)
    await server.accept()
  }

  const ok =
    (await step('configuration', async () => void server.checkSettings())) &&
    (await step('connect', async () => void (await connection.prove(CONNECTED_MS)))) &&
    (await step('list-tools', async () => void (await connection.prove(0)))) &&
    (!request.accept || (await step('accept', accept))) &&
    (request.tool === undefined || (await step('call-tool', () => call(request.tool ?? ''))))

  const { session } = connection
  return {
    ...{ connection: name, ok, steps },
    ...(session && {
      server: { ...session.server, transport: session.transport, protocol: session.protocol },
    }),
    digest: digest(),
    tools: server.tools().map(toTested),
    ...(output !== undefined && { output }),
    ...(artifacts.all().length > 0 && { artifacts: artifacts.all() }),
  }
}

function toTested({ remote, off, tool }: OfferedTool): McpTestResult['tools'][number] {
  const { name, description } = tool
  const reason = tool.unavailable?.()
  const tested = { name, remoteName: remote.name, description }
  if (off || reason === undefined) return { ...tested, state: off ? 'off' : 'on' }
  return { ...tested, state: 'unavailable', reason }
}

function explain(error: unknown): string {
  const isForCaller = error instanceof ToolFailure || error instanceof ToolInputError
  return isForCaller ? error.message : explainFailure(error)
}
