import { untilAborted } from '@agent-server/lib/abort.ts'
import { type Environment, variablesIn } from '@agent-server/lib/environment.ts'
import { freeObject } from '@agent-server/lib/fields.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { neverShow } from '@agent-server/lib/secrets.ts'
import type { ToolProgress } from '@agent-server/wire'
import { ProtocolError } from '@modelcontextprotocol/client'
import {
  type Approval,
  slimSchema,
  type Tool,
  type ToolContext,
  ToolInputError,
} from '../tools/define-tool.ts'
import { ElicitationRequired, type Elicited } from '../tools/elicitation.ts'
import { Connection } from './connection.ts'
import { explainFailure } from './explain-failure.ts'
import {
  type Fetch,
  type RemoteTool,
  type SessionTarget,
  type TokenSource,
  toSessionTarget,
} from './session.ts'
import type { McpServer } from './settings.ts'
import type { ToolLock } from './tool-lock.ts'
import { mcpToolName, type ResolvedTool, readResult, resolveTools } from './tools.ts'

/** The total deadline of a call, even one that reports progress. */
const CALL_MS = 620_000
/** Before a tool is called, a server that was silent for longer than this is asked for its tools again. */
const TRUSTED_MS = 30_000
const MAX_DESCRIPTION = 4_000
/** UTF-16 code units kept of the server's own message about a refused call. */
const MAX_MESSAGE = 1_000
/** UTF-16 code units kept of what a server says about the progress of a call. */
const MAX_PROGRESS = 200

/** UTF-16 code units; a shorter value may occur in a text by chance. */
const MIN_SECRET = 6

export interface RemoteServerOptions {
  name: string
  settings: McpServer
  environment: Environment
  fetch: Fetch
  /** The tool definitions that were accepted. */
  toolLock: ToolLock
  /** The account of the person whose server this is; absent for everybody's. */
  account?: TokenSource | undefined
  log: Pick<Log, 'info' | 'warn'>
}

export interface OfferedTool extends ResolvedTool {
  /** The tool as it may be offered to the model. */
  tool: Tool
}

/** The values of all variables in headers, in the OAuth settings, and in the query of the URL. */
function credentialsIn({ headers, oauth, url }: McpServer, environment: Environment) {
  const [, query = ''] = url.split('?')
  const names = variablesIn(`${JSON.stringify([headers, oauth ?? {}])} ${query}`)
  return names.map((name) => environment[name])
}

/** What a connection depends on: one with the same identity can be used instead of it. */
export function identityOf(name: string, settings: McpServer, environment: Environment): string {
  const values = variablesIn(JSON.stringify(settings)).map((variable) => environment[variable])
  return JSON.stringify([name, settings, values])
}

type CallContext = Pick<ToolContext, 'artifacts' | 'showImage' | 'answered' | 'progressed'>

/** One configured MCP server: its connection, and the tools that it offers. */
export class RemoteServer {
  readonly name: string
  readonly settings: McpServer
  readonly identity: string
  readonly connection: Connection
  readonly #options: RemoteServerOptions
  #tools: readonly OfferedTool[] = []

  constructor(options: RemoteServerOptions) {
    const { name, settings, environment, log } = options
    this.#options = options
    neverShow(credentialsIn(settings, environment))
    this.name = name
    this.settings = settings
    this.identity = identityOf(name, settings, environment)
    this.connection = new Connection({
      name,
      target: () => this.#target(),
      onTools: (remotes) => this.#offer(remotes),
      log,
    })
  }

  /** Every tool of the last listing. */
  get tools(): readonly OfferedTool[] {
    return this.#tools
  }

  /** Throws `MissingVariable` if a variable is missing. */
  checkSettings(): void {
    this.#target()
  }

  /** Accepts the tool definitions of the last listing. */
  async accept(): Promise<void> {
    const remotes = this.#tools.map(({ remote }) => remote)
    await this.#options.toolLock.accept(this.name, this.settings.url, remotes)
    await this.#offer(remotes)
  }

  close(): Promise<void> {
    return this.connection.close()
  }

  #target(): SessionTarget {
    const { settings, environment, fetch, account } = this.#options
    return { ...toSessionTarget(settings, environment, fetch), account }
  }

  async #offer(remotes: readonly RemoteTool[]): Promise<void> {
    const { toolLock, log, account } = this.#options
    const isPersonal = account !== undefined
    const changes = await toolLock.compare(this.name, this.settings.url, remotes, isPersonal)
    for (const [tool, change] of changes) {
      if (this.#tools.some(({ remote, refusal }) => remote.name === tool && refusal)) continue
      log.warn({ connection: this.name, tool, change }, 'MCP tool needs to be accepted')
    }
    this.#tools = resolveTools(remotes, this.settings.allowTools, changes).map((one) => ({
      ...one,
      tool: this.#toTool(one),
    }))
  }

  #toTool({ remote, refusal }: ResolvedTool): Tool {
    return {
      ...describe(this.name, remote),
      approval: approvalOf(remote.name, this.settings),
      deadlineMs: CALL_MS,
      unavailable: () => (this.connection.session ? refusal : this.connection.reason),
      run: (input, context, signal) => this.#run(remote.name, input, context, signal),
    }
  }

  /**
   * Calls a tool; returns what the model reads. Throws `Refusal`, `ToolInputError`, `ElicitationRequired`, and the
   * reason of `signal`.
   */
  async #run(
    tool: string,
    input: unknown,
    { artifacts, showImage, answered, progressed }: CallContext,
    signal: AbortSignal,
  ): Promise<string> {
    const parsed = Input.safeParse(input)
    if (!parsed.success) throw new ToolInputError('The arguments must be an object')
    const remote = await this.#current(tool, signal)
    const hide = (text: string) => hideCredentials(text, this.#target())
    const idleMs = this.settings.timeout * 1_000
    try {
      const call = {
        tool: remote,
        input: parsed.data,
        idleMs,
        answered,
        progressed: (progress: ToolProgress) => progressed?.(progressIn(progress, hide)),
      }
      const outcome = await this.connection.call(call, signal)
      if ('elicited' in outcome) throw new ElicitationRequired(hideIn(outcome.elicited, hide))
      const { result } = outcome
      const readResource = (uri: string) => this.connection.readResource(uri, signal)
      const text = hide(await readResult(result, { artifacts, showImage, readResource }, signal))
      if (result.isError) throw new Refusal(text)
      return text
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Refusal || error instanceof ElicitationRequired) throw error
      throw new Refusal(hide(explainCall(error)), { cause: error })
    }
  }

  /** The tool as the server defines it now, if it may still be used. Throws `Refusal`. */
  async #current(tool: string, signal: AbortSignal): Promise<RemoteTool> {
    await untilAborted(this.connection.prove(TRUSTED_MS), signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new Refusal(explainFailure(error), { cause: error })
    })
    const match = this.#tools.find(({ remote }) => remote.name === tool)
    if (!match) throw new Refusal('The server no longer has this tool')
    if (match.refusal) throw new Refusal(match.refusal)
    return match.remote
  }
}

const progressIn = (
  { progress, total, message }: ToolProgress,
  hide: (text: string) => string,
): ToolProgress => ({
  progress,
  ...(total !== undefined && { total }),
  ...(message && { message: hide(message).slice(0, MAX_PROGRESS).toWellFormed() }),
})

const hideIn = (
  { elicitations, ...elicited }: Elicited,
  hide: (text: string) => string,
): Elicited => ({
  ...elicited,
  elicitations: elicitations.map((one) => ({ ...one, message: hide(one.message) })),
})

function approvalOf(tool: string, { approval = 'never' }: McpServer): Approval {
  if (typeof approval === 'string') return approval
  return approval.includes(tool) ? 'always' : 'never'
}

/** Some servers repeat the credentials that they were sent, above all in error messages. */
function hideCredentials(
  text: string,
  { headers, oauth, account }: Pick<SessionTarget, 'headers' | 'oauth' | 'account'>,
): string {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])
  return [...values, oauth?.clientSecret ?? '', account?.lastToken() ?? '']
    .filter(({ length }) => length >= MIN_SECRET)
    .reduce((words, secret) => words.replaceAll(secret, '[hidden]'), text)
}

/** How a tool is described to the model. */
function describe(connection: string, { name, title, description, ...remote }: RemoteTool) {
  return {
    name: mcpToolName(connection, name),
    title: title ?? remote.annotations?.title ?? name,
    description: description?.slice(0, MAX_DESCRIPTION) ?? '',
    source: `mcp:${connection}`,
    inputSchema: { properties: {}, ...slimSchema(remote.inputSchema) },
  }
}

const Input = freeObject()

/** A refusal includes the server's message, which tells the model what to correct; other failures are in our words. */
function explainCall(error: unknown): string {
  if (!(error instanceof ProtocolError)) return explainFailure(error)
  return `${explainFailure(error)}: ${error.message.slice(0, MAX_MESSAGE)}`
}
