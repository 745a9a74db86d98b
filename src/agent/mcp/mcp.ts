import { untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { outboundCause } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import type { Capabilities } from '@agent-server/schemas/agent.ts'
import type { McpTestRequest, McpTestResult, McpTestStep } from '@agent-server/schemas/mcp.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { createCitations } from '../citations/citations.ts'
import type { Artifacts } from '../tools/artifacts.ts'
import type { Tool } from '../tools/define-tool.ts'
import { ElicitationRequired } from '../tools/elicitation.ts'
import { AccountRequired, createMcpAccounts } from './accounts.ts'
import { explainFailure } from './explain-failure.ts'
import { createAccountService, PersonalServer } from './personal-server.ts'
import {
  identityOf,
  type OfferedTool,
  RemoteServer,
  type RemoteServerOptions,
} from './remote-server.ts'
import type { McpServer } from './settings.ts'
import { digestOfAll } from './tool-lock.ts'

/** A server that answered this recently is not checked again. */
const BELIEVED_MS = 5_000
/** How long a request for the state of a connection waits for the check. */
const LOOK_MS = 1_000

interface Dependencies extends Omit<RemoteServerOptions, 'name' | 'settings' | 'account'> {
  servers: Readonly<Record<string, McpServer>>
  /** Connections of another agent, which are reused if their settings are equal. */
  existing?: readonly (RemoteServer | PersonalServer)[] | undefined
  /** Stores the files that tested tools return. */
  artifacts: () => Artifacts
  accounts: Parameters<typeof createMcpAccounts>[0]
}

type McpRecord = Capabilities['mcp'][number]

export type Mcp = ReturnType<typeof createMcp>

/** The connections to MCP servers; none of them can delay or break another. */
export function createMcp(dependencies: Dependencies) {
  const { servers, existing = [], artifacts, accounts: accountParts, ...common } = dependencies
  const { encryption } = accountParts
  const accounts = createMcpAccounts(accountParts)
  const create = (name: string, settings: McpServer) => {
    const options = { name, settings, ...common }
    return settings.oauth?.per
      ? new PersonalServer({ ...options, accounts, encryption })
      : new RemoteServer(options)
  }
  const all = Object.entries(servers).map(([name, settings]) => {
    const identity = identityOf(name, settings, common.environment)
    return existing.find((server) => server.identity === identity) ?? create(name, settings)
  })
  const enabled = all.filter(({ settings }) => settings.enabled)
  const shared = enabled.filter((server) => server instanceof RemoteServer)
  const personal = enabled.filter((server) => server instanceof PersonalServer)

  return {
    /** Every configured server. */
    servers: all as readonly (RemoteServer | PersonalServer)[],
    /** Starts connecting to every enabled server, without waiting. */
    start(): void {
      for (const { connection } of shared) connection.start()
    },
    /** Resolves when every enabled server has answered or failed; connecting has a deadline of its own. */
    async connected(signal: AbortSignal): Promise<void> {
      const attempts = shared.map(({ connection }) => connection.prove(BELIEVED_MS))
      await untilAborted(Promise.allSettled(attempts), signal)
    },
    /** The tools of all servers known so far; those of personal ones for `owner` alone. */
    tools: (owner?: string): readonly Tool[] => [
      ...shared.flatMap((server) => server.tools.flatMap(({ off, tool }) => (off ? [] : [tool]))),
      ...(owner === undefined ? [] : personal.flatMap((server) => server.tools(owner))),
    ],
    /** Has the tools of a person's own accounts ready, as far as their servers answer in time. */
    async prepare(owner: string, signal: AbortSignal): Promise<void> {
      await untilAborted(Promise.all(personal.map((server) => server.prepare(owner))), signal)
    },
    accounts: createAccountService({ servers: personal, accounts, encryption }),
    /** The current state of each connection. */
    records: (): Promise<McpRecord[]> => Promise.all(all.map(toRecord)),
    /** Tests one connection step by step. Throws AppError `connection_not_found`. */
    async test(
      name: string,
      request: McpTestRequest,
      signal: AbortSignal,
      owner: string | undefined,
    ): Promise<McpTestResult> {
      const server = all.find((server) => server.name === name)
      if (!server) {
        throw new AppError('connection_not_found', `There is no MCP connection "${name}"`)
      }
      const candidate = server.settings.enabled ? server : create(name, server.settings)
      try {
        const tested = await usableBy(owner, candidate, accountParts.address)
        if (!(tested instanceof RemoteServer)) return tested
        return await testConnection(tested, request, artifacts(), signal)
      } finally {
        if (candidate !== server) await candidate.close()
      }
    },
    async close(): Promise<void> {
      await Promise.all(all.map((server) => server.close()))
    },
  }
}

/** The server as who tests it uses it, or the result of a test that ends there. */
async function usableBy(
  owner: string | undefined,
  server: RemoteServer | PersonalServer,
  address: string,
): Promise<RemoteServer | McpTestResult> {
  if (server instanceof RemoteServer) return server
  const { name, reason } = server
  if (reason !== undefined) return failedTest(name, 'configuration', reason)
  const own = owner === undefined ? undefined : await server.openFor(owner)
  return own ?? failedTest(name, 'connect', new AccountRequired(name, address).message)
}

/** The test of a connection at which whoever tests it can use nothing. */
function failedTest(name: string, step: McpTestStep['step'], message: string): McpTestResult {
  const steps = [{ step, ok: false, milliseconds: 0, message }]
  return { connection: name, ok: false, steps, digest: digestOfAll([]), tools: [] }
}

async function toRecord(server: RemoteServer | PersonalServer): Promise<McpRecord> {
  const { name, settings } = server
  const record = { name, url: settings.url }
  if (!settings.enabled) return { ...record, state: 'off' }
  if (server instanceof PersonalServer) {
    const { reason } = server
    const state = reason === undefined ? ('on' as const) : ('unavailable' as const)
    return { ...record, state, perPerson: true, ...(reason !== undefined && { reason }) }
  }
  const { connection, tools } = server
  const late = AbortSignal.timeout(LOOK_MS)
  if (connection.session) {
    const proof = untilAborted(connection.prove(BELIEVED_MS), late)
    await ignore(proof, 'a failure shows in `session` and `reason`')
  }
  const { session } = connection
  if (!session || late.aborted) {
    const reason = session ? `Did not answer within ${LOOK_MS} ms` : connection.reason
    return { ...record, state: 'unavailable', reason }
  }
  const enabled = tools.filter(({ off }) => !off)
  const notUsed = enabled.flatMap(({ refusal: reason, change, tool: { name } }) =>
    reason === undefined ? [] : [{ name, reason, change }],
  )
  const waiting = notUsed.flatMap(({ name, change }) => (change ? [name] : []))
  const refused = notUsed.flatMap(({ name, reason, change }) => (change ? [] : [{ name, reason }]))
  const { transport, protocol } = session
  const usable = enabled.length - notUsed.length
  const connected = { ...record, state: 'on' as const, transport, protocol, tools: usable, waiting }
  return refused.length > 0 ? { ...connected, refused } : connected
}

/** A connection verified within this time is not verified again by the step `connect`. */
const CONNECTED_MS = 3_600_000

const OTHER_TOOLS =
  'Nothing was accepted: the digest is not that of the current definitions. Review them and accept again'

/** Takes the steps of a tool call in a chat one by one, until one fails. Throws only the reason of `signal`. */
async function testConnection(
  server: RemoteServer,
  request: McpTestRequest,
  artifacts: Artifacts,
  signal: AbortSignal,
): Promise<McpTestResult> {
  const { name, connection } = server
  const steps: McpTestStep[] = []
  let output: string | undefined

  /** Runs and records a step; resolves with whether it succeeded. `work` may return a message about the success. */
  async function step(name: McpTestStep['step'], work: () => Promise<string | undefined>) {
    const started = performance.now()
    const addStep = (ok: boolean, details: Pick<McpTestStep, 'message' | 'unlistedHost'>) => {
      const milliseconds = Math.round(performance.now() - started)
      steps.push({ step: name, ok, milliseconds, ...details })
      return ok
    }
    try {
      const message = await untilAborted(work(), signal)
      return addStep(true, message === undefined ? {} : { message })
    } catch (error) {
      signal.throwIfAborted()
      const unlistedHost = outboundCause(error)?.unlistedHost
      return addStep(false, { message: explain(error), ...(unlistedHost && { unlistedHost }) })
    }
  }

  async function call(toolName: string): Promise<string | undefined> {
    const match = server.tools.find(({ remote }) => remote.name === toolName)
    if (!match) throw new Refusal(`The server has no tool "${toolName}"`)
    const visibility = forCaller(MASTER)
    const context = {
      visibility,
      artifacts,
      citations: createCitations(),
      search: { visibility },
      share: undefined,
      sessionId: `test of ${name}`,
      activeSkills: new Set<string>(),
    }
    output = await match.tool.run(request.arguments, context, signal)
    return undefined
  }

  const digest = () => digestOfAll(server.tools.map(({ remote }) => remote))

  /** Accepts the definitions that were reviewed, and nothing that changed since. */
  async function accept(): Promise<undefined> {
    if (request.digest !== digest()) throw new Refusal(OTHER_TOOLS)
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
    connection: name,
    ok,
    steps,
    ...(session && {
      server: { ...session.server, transport: session.transport, protocol: session.protocol },
    }),
    digest: digest(),
    tools: server.tools.map(toTested),
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
  if (error instanceof ElicitationRequired) {
    return `The server asks something before it goes on, which a chat passes on: ${error.message}`
  }
  return error instanceof Refusal ? error.message : explainFailure(error)
}
