import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/client'
import { untilAborted } from '../../lib/abort.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { ToolFailure } from '../tools/tool-error.ts'
import { explainFailure, isForgottenSession, isTimeout, kindOf } from './explain-failure.ts'
import {
  type McpSession,
  openSession,
  type RemoteCall,
  type RemoteTool,
  type SessionTarget,
} from './session.ts'

const CONNECT_MS = 15_000
/** Between two checks of a server that is up. */
const HEARTBEAT_MS = 60_000
const RETRY = { firstMs: 1_000, maxMs: 60_000 }
/** Calls without an answer, one after the other, after which the server gets a rest. */
const MAX_TIMEOUTS = 3

export interface ConnectionLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface ConnectionOptions {
  name: string
  /** Throws where the configuration lacks something. */
  target: () => SessionTarget
  /** Called with the server's tools each time they were listed; nobody may use them before it is done. */
  onTools(tools: readonly RemoteTool[]): Promise<void>
  log: ConnectionLog
}

/** The connection to one server: made in the background, checked from time to time, tried again when it is down. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #closing = new AbortController()
  #session: McpSession | undefined
  #reason = 'Connecting'
  #failures = 0
  #timeouts = 0
  #provedAt = 0
  #timer: NodeJS.Timeout | undefined
  #work: Promise<McpSession> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Nothing while the server is out of reach; `reason` says why. */
  get session(): McpSession | undefined {
    return this.#session
  }

  get reason(): string {
    return this.#reason
  }

  start(): void {
    this.#later(0)
  }

  /** Proves that the server answers, unless that was proved within `milliseconds`; connects where it has to. Throws why it does not. */
  async prove(milliseconds: number): Promise<McpSession> {
    const held = this.#session
    if (held && Date.now() - this.#provedAt < milliseconds) return held
    return this.#once(() => (held ? this.#check(held) : this.#connect()))
  }

  /** Calls a tool, once; a second time only where the server did nothing at the first. */
  async call(call: RemoteCall, signal: AbortSignal): Promise<CallToolResult> {
    const held = this.#session ?? (await this.#awaited(signal))
    try {
      const result = await held.callTool(call, signal)
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
    const held = this.#session ?? (await this.#awaited(signal))
    return held.readResource(uri, signal)
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The server is being stopped'))
    clearTimeout(this.#timer)
    await this.#drop()
  }

  /** A server that is down is not waited for by every call. */
  #awaited(signal: AbortSignal): Promise<McpSession> {
    if (!this.#work) throw new ToolFailure(this.#reason)
    return untilAborted(this.#work, signal)
  }

  /** At most one at a time: a caller that comes meanwhile gets the same. */
  #once(work: () => Promise<McpSession>): Promise<McpSession> {
    this.#work ??= work().finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  /** Connects, or checks what is connected. */
  #later(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    // What fails has been logged, and plans the next time by itself.
    const attempt = () => void this.prove(0).catch(() => undefined)
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
    await this.#options.onTools(await session.listTools(this.#deadline()))
    this.#provedAt = Date.now()
    this.#later(HEARTBEAT_MS)
  }

  /** A server that forgot the session, or was started anew, gets a second chance at once. */
  async #check(held: McpSession): Promise<McpSession> {
    try {
      await this.#list(held)
      return held
    } catch (error) {
      this.#report('MCP server is connected to anew', error)
      return this.#renew()
    }
  }

  async #renew(): Promise<McpSession> {
    await this.#drop()
    return this.#connect()
  }

  /** A failed call says nothing of the server by itself, so it is asked; calls that time out again and again do. */
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
