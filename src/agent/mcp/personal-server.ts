import { randomBytes } from 'node:crypto'
import { settlesWithin } from '@agent-server/lib/abort.ts'
import type { Encryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { isSameSecret } from '@agent-server/lib/same-secret.ts'
import type { McpAccountKey } from '@agent-server/stores'
import { z } from 'zod'
import type { Tool } from '../tools/define-tool.ts'
import { beginSignIn, finishSignIn, OAuthClient, type Registrations } from './account-sign-in.ts'
import { AccountRequired, type McpAccounts } from './accounts.ts'
import { explainFailure, kindOf } from './explain-failure.ts'
import { identityOf, RemoteServer, type RemoteServerOptions } from './remote-server.ts'
import { toSessionTarget } from './session.ts'
import { mcpToolName } from './tools.ts'

/** People of one connection with open sessions; who used theirs longest ago makes room, unless it is in use. */
const MAX_OPEN = 100
/** Longer than a call may take. */
const IDLE_MS = 900_000
/** A session that was verified so recently is not verified again before a run. */
const TRUSTED_MS = 30_000
/** How long a run waits for the tools of its person. */
const PREPARE_MS = 5_000
const PENDING_MS = 900_000

/** What the browser keeps while the person is at the authorisation server. */
const Pending = z.object({
  connection: z.string(),
  owner: z.string(),
  url: z.string(),
  state: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  issuer: z.string(),
  client: OAuthClient,
  until: z.number(),
})
type PendingAccount = z.output<typeof Pending>

interface PersonalOptions extends RemoteServerOptions {
  accounts: McpAccounts
  encryption: Encryption
}

interface OpenServer {
  server: RemoteServer
  connectedAt: number
  usedAt: number
  /** Calls that go on. */
  running: number
}

/** A server at which each person has an account of their own, with sessions and tools of their own. */
export class PersonalServer {
  readonly name: string
  readonly settings: RemoteServerOptions['settings']
  readonly identity: string
  readonly #options: PersonalOptions
  /** By whose they are, the last used ones last. */
  readonly #open = new Map<string, OpenServer>()
  readonly #registrations: Registrations = new Map()
  #sweeping: NodeJS.Timeout | undefined

  constructor(options: PersonalOptions) {
    const { name, settings, environment } = options
    this.#options = options
    this.name = name
    this.settings = settings
    this.identity = identityOf(name, settings, environment)
  }

  /** Why nobody can use it; undefined if people can. */
  get reason(): string | undefined {
    try {
      this.target()
      return undefined
    } catch (error) {
      return explainFailure(error)
    }
  }

  /** A person whose account is not connected gets one tool, which says where to connect it. */
  tools(owner: string): readonly Tool[] {
    const open = this.#open.get(owner)
    if (!open) return [this.#connectTool()]
    return open.server.tools.flatMap(({ off, tool }) =>
      off ? [] : [this.#whenRun(tool, owner, open)],
    )
  }

  /** Has the person's tools ready, if they have an account and its server answers in time. */
  async prepare(owner: string): Promise<void> {
    const { name } = this
    try {
      const server = await this.openFor(owner)
      if (!server || server.connection.isDown) return
      const proof = ignore(server.connection.prove(TRUSTED_MS), 'its tools are unavailable')
      await settlesWithin(proof, PREPARE_MS)
    } catch (error) {
      const failed = { connection: name, kind: kindOf(error) }
      this.#options.log.warn(failed, `MCP server is unavailable: ${explainFailure(error)}`)
    }
  }

  /** The server as this person uses it; undefined if they have no account. */
  async openFor(owner: string): Promise<RemoteServer | undefined> {
    const at = this.account(owner)
    const connectedAt = await this.#options.accounts.connectedAt(at)
    const before = this.#open.get(owner)
    if (before && before.connectedAt !== connectedAt) this.drop(owner)
    if (connectedAt === undefined) return undefined
    const open = this.#open.get(owner) ?? this.#create(owner, connectedAt)
    this.#open.set(owner, open)
    this.#touch(owner, open)
    this.#sweep()
    return open.server
  }

  /** Where the person allows this server to act for them, and what their browser keeps meanwhile. */
  async begin(owner: string, redirectUri: string, signal: AbortSignal) {
    const target = this.target()
    const state = randomBytes(32).toString('base64url')
    const { url, ...signIn } = await beginSignIn(
      target,
      { redirectUri, state, registrations: this.#registrations },
      signal,
    )
    const pending: PendingAccount = {
      ...signIn,
      connection: this.name,
      owner,
      url: target.url.href,
      state,
      redirectUri,
      until: Date.now() + PENDING_MS,
    }
    return { url, sealed: await this.#options.encryption.seal(pending) }
  }

  /** Keeps the tokens for whom the sign-in was begun. Throws `unauthorized`, and `fetch_failed`. */
  async finish(query: URLSearchParams, pending: PendingAccount, signal: AbortSignal) {
    const target = this.target()
    const code = query.get('code')
    const isAnswer = isSameSecret(query.get('state') ?? '', pending.state)
    if (isAnswer && code === null) this.#registrations.clear()
    if (!isAnswer || code === null || pending.url !== target.url.href) {
      throw new AppError('unauthorized', 'The account was not connected. Start again.')
    }
    const answer = { ...pending, code, answeredBy: query.get('iss') ?? undefined }
    const tokens = await finishSignIn(target, answer, signal).catch((error: unknown) => {
      // The authorisation server may have forgotten the client.
      this.#registrations.clear()
      throw error
    })
    await this.#options.accounts.save(this.account(pending.owner), { ...pending, tokens })
  }

  target() {
    const { settings, environment, fetch } = this.#options
    return toSessionTarget(settings, environment, fetch)
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweeping)
    const servers = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(servers.map(({ server }) => server.close()))
  }

  /** The account of a person here, whether there is one or not. */
  account(owner: string) {
    return { owner, connection: this.name, target: () => this.target() }
  }

  #create(owner: string, connectedAt: number): OpenServer {
    const { accounts, ...options } = this.#options
    const account = accounts.sourceFor(this.account(owner), connectedAt)
    const server = new RemoteServer({ ...options, account })
    return { server, connectedAt, usedAt: performance.now(), running: 0 }
  }

  #touch(owner: string, open: OpenServer): void {
    open.usedAt = performance.now()
    if (this.#open.get(owner) !== open) return
    this.#open.delete(owner)
    this.#open.set(owner, open)
  }

  #whenRun(tool: Tool, owner: string, open: OpenServer): Tool {
    const run: Tool['run'] = async (...call) => {
      open.running += 1
      try {
        return await tool.run(...call)
      } finally {
        open.running -= 1
        this.#touch(owner, open)
      }
    }
    return { ...tool, run }
  }

  #connectTool(): Tool {
    const { name } = this
    const { address } = this.#options.accounts
    return {
      name: mcpToolName(name, 'connect_account'),
      title: `Connect ${name}`,
      description: `Tells how the person connects their account at "${name}", which has to be done before its tools can be used. Call it if the question needs "${name}".`,
      source: `mcp:${name}`,
      unavailable: () => this.reason,
      inputSchema: { type: 'object', properties: {} },
      run: async () => new AccountRequired(name, address).message,
    }
  }

  /** Closes what was not used for long, or is too much. */
  #sweep(): void {
    const isOver = ({ usedAt }: OpenServer) => usedAt + IDLE_MS <= performance.now()
    for (const [owner, open] of this.#open) {
      const isTooMuch = this.#open.size > MAX_OPEN || isOver(open)
      if (isTooMuch && open.running === 0) this.drop(owner)
    }
    clearTimeout(this.#sweeping)
    if (this.#open.size > 0) this.#sweeping = setTimeout(() => this.#sweep(), IDLE_MS).unref()
  }

  /** Ends the person's session. */
  drop(owner: string): void {
    const open = this.#open.get(owner)
    this.#open.delete(owner)
    void ignore(open?.server.close() ?? Promise.resolve(), 'the server ends the session itself')
  }
}

interface AccountServiceParts extends Pick<PersonalOptions, 'accounts' | 'encryption'> {
  servers: readonly PersonalServer[]
}

/** How people connect their accounts at the servers of an agent. Each method throws AppErrors. */
export function createAccountService({ servers, accounts, encryption }: AccountServiceParts) {
  const serverNamed = (name: string) => {
    const named = servers.find((server) => server.name === name)
    if (named) return named
    const message = `There is no MCP connection "${name}" at which people have their own accounts`
    throw new AppError('connection_not_found', message)
  }
  const describe = async (server: PersonalServer, owner: string) => {
    // Which account counts is known only with all variables.
    const isUsable = server.reason === undefined
    const connectedAt = isUsable ? await accounts.connectedAt(server.account(owner)) : undefined
    const since = connectedAt !== undefined && { connectedAt: new Date(connectedAt).toISOString() }
    return { connection: server.name, ...since }
  }

  return {
    /** Where accounts can be connected, and since when the person's are. */
    list: (owner: string) => Promise.all(servers.map((server) => describe(server, owner))),

    /** The page on which people connect an account. */
    page(connection: string): string {
      serverNamed(connection)
      return accounts.address
    },

    begin: (connection: string, owner: string, redirectUri: string, signal: AbortSignal) =>
      serverNamed(connection).begin(owner, redirectUri, signal),

    /** Connects the account with which the browser comes back; returns whose it is. */
    async finish(
      connection: string,
      query: URLSearchParams,
      sealed: string,
      signal: AbortSignal,
    ): Promise<string> {
      const { data: pending } = Pending.safeParse(await encryption.open(sealed))
      if (!pending || pending.connection !== connection || pending.until < Date.now()) {
        const message = 'This was started in another browser, or too long ago. Start again.'
        throw new AppError('unauthorized', message)
      }
      await serverNamed(connection).finish(query, pending, signal)
      return pending.owner
    },

    /** Returns whether there was one; what runs with it ends. */
    async remove(key: McpAccountKey): Promise<boolean> {
      const isGone = await accounts.remove(key)
      servers.find(({ name }) => name === key.connection)?.drop(key.owner)
      return isGone
    },
  }
}
