import { untilAborted } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import type { ReadResourceResult } from '@modelcontextprotocol/client'
import { explainFailure, isForgottenSession, isTimeout, kindOf } from './explain-failure.ts'
import {
  type CallOutcome,
  type McpSession,
  openSession,
  type RemoteCall,
  type RemoteTool,
  type SessionTarget,
} from './session.ts'

const CONNECT_MS = 15_000
/** The interval between checks of a connected server. */
const HEARTBEAT_MS = 60_000
const RETRY = { firstMs: 1_000, maxMs: 60_000 }
/** Consecutive call timeouts after which the connection is dropped and retried later. */
const MAX_TIMEOUTS = 3

interface ConnectionOptions {
  name: string
  /** Where to connect. Throws if the configuration lacks something, such as a variable. */
  target: () => SessionTarget
  /** Called with the server's tools each time they are listed; they must not be used until it resolves. */
  onTools(tools: readonly RemoteTool[]): Promise<void>
  log: Pick<Log, 'info' | 'warn'>
}

/** The connection to one server: made in the background, checked periodically, retried with backoff while down. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #closing = new AbortController()
  #session: McpSession | undefined
  #reason = 'Connecting'
  #failures = 0
  #timeouts = 0
  #provedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #work: Promise<McpSession> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Undefined while the server cannot be reached; `reason` says why. */
  get session(): McpSession | undefined {
    return this.#session
  }

  get reason(): string {
    return this.#reason
  }

  /** Whether the last attempt failed: it is tried again without anybody who waits. */
  get isDown(): boolean {
    return !this.#session && this.#failures > 0
  }

  start(): void {
    this.#later(0)
  }

  /**
   * Verifies that the server answers, unless that was verified within `milliseconds`; connects if necessary. Throws the
   * reason if it does not answer.
   */
  async prove(milliseconds: number): Promise<McpSession> {
    const session = this.#session
    if (session && performance.now() - this.#provedAt < milliseconds) return session
    return this.#once(() => (session ? this.#check(session) : this.#connect()))
  }

  /** Calls a tool once; repeats the call only if the server had lost the session, and therefore had not run it. */
  async call(call: RemoteCall, signal: AbortSignal): Promise<CallOutcome> {
    const session = this.#session ?? (await this.#awaited(signal))
    try {
      const result = await session.callTool(call, signal)
      this.#timeouts = 0
      return result
    } catch (error) {
      signal.throwIfAborted()
      if (!isForgottenSession(error)) {
        await this.#note(error)
        throw error
      }
      const again = await untilAborted(
        this.#once(() => this.#renew()),
        signal,
      )
      return again.callTool(call, signal)
    }
  }

  async readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const session = this.#session ?? (await this.#awaited(signal))
    return session.readResource(uri, signal)
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The server is shutting down'))
    clearTimeout(this.#timer)
    await this.#drop()
  }

  /** Waits for a connection attempt in flight; otherwise throws, so that no call waits for a server that is down. */
  #awaited(signal: AbortSignal): Promise<McpSession> {
    if (!this.#work) throw new Refusal(this.#reason)
    return untilAborted(this.#work, signal)
  }

  /** Runs at most one attempt at a time: concurrent callers share its result. */
  #once(work: () => Promise<McpSession>): Promise<McpSession> {
    this.#work ??= work().finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  /** Schedules the next check, or the next attempt to connect. */
  #later(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    const attempt = () => void ignore(this.prove(0), 'it was logged, and is tried again')
    this.#timer = setTimeout(attempt, milliseconds).unref()
  }

  async #connect(): Promise<McpSession> {
    clearTimeout(this.#timer)
    const { name, target, log } = this.#options
    try {
      const events = {
        toolsChanged: () => this.#later(0),
        trouble: () => this.#later(RETRY.firstMs),
      }
      const session = await openSession(target(), events, this.#deadline())
      try {
        await this.#list(session)
        this.#closing.signal.throwIfAborted()
      } catch (error) {
        await session.close()
        throw error
      }
      this.#session = session
      this.#failures = 0
      log.info({ connection: name, transport: session.transport }, 'MCP server connected')
      return session
    } catch (error) {
      this.#giveUp(error)
      throw error
    }
  }

  async #list(session: McpSession): Promise<void> {
    await this.#options.onTools(await session.listTools(this.#closing.signal))
    this.#provedAt = performance.now()
    this.#later(HEARTBEAT_MS)
  }

  /** Lists the tools; if that fails, reconnects at once, since the server may have restarted or lost the session. */
  async #check(session: McpSession): Promise<McpSession> {
    try {
      await this.#list(session)
      return session
    } catch (error) {
      this.#report('MCP server reconnected', error)
      return this.#renew()
    }
  }

  async #renew(): Promise<McpSession> {
    await this.#drop()
    return this.#connect()
  }

  /** A failed call says nothing about the server, so the server is checked; repeated timeouts mean that it is down. */
  async #note(error: unknown): Promise<void> {
    this.#timeouts = isTimeout(error) ? this.#timeouts + 1 : 0
    if (this.#timeouts < MAX_TIMEOUTS) return this.#later(0)
    await this.#drop()
    this.#giveUp(error)
  }

  #giveUp(error: unknown): void {
    this.#reason = explainFailure(error)
    this.#failures += 1
    if (this.#closing.signal.aborted) return
    this.#options.log.warn(
      { connection: this.#options.name, kind: kindOf(error) },
      `MCP server is down: ${this.#reason}`,
    )
    this.#later(backoffMs(this.#failures, RETRY))
  }

  async #drop(): Promise<void> {
    const dropped = this.#session
    this.#session = undefined
    await dropped
      ?.close()
      .catch((error: unknown) => this.#report('MCP session did not close', error))
  }

  #report(message: string, error: unknown): void {
    this.#options.log.info({ connection: this.#options.name, kind: kindOf(error) }, message)
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(CONNECT_MS)])
  }
}
