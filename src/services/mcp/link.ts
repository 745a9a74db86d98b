import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/client'
import { untilAborted } from '../../lib/abort.ts'
import { ToolFailure } from '../tools/tool-error.ts'
import { explainFailure, isForgottenSession, isTimeout, kindOf } from './explain-failure.ts'
import {
  openSession,
  type RemoteCall,
  type RemoteTool,
  type Session,
  type SessionTarget,
} from './session.ts'

const CONNECT_MS = 15_000
/** Between two looks at a server that is up. */
const HEARTBEAT_MS = 60_000
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000
/** Calls without an answer, one after the other, after which the server gets a rest. */
const MAX_TIMEOUTS = 3

export interface LinkLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface LinkOptions {
  name: string
  /** Throws where the configuration lacks something. */
  target: () => SessionTarget
  /** Hears of the server's tools each time they were listed, and settles before anyone may use them. */
  onTools(tools: readonly RemoteTool[]): Promise<void>
  log: LinkLog
}

/** One server, kept in reach: connected in the background, looked at from time to time, tried again when it is down. */
export class Link {
  readonly #options: LinkOptions
  readonly #closing = new AbortController()
  #session: Session | undefined
  #reason = 'Connecting'
  #failures = 0
  #timeouts = 0
  #provedAt = 0
  #timer: NodeJS.Timeout | undefined
  #work: Promise<Session> | undefined

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Nothing while the server is out of reach; `reason` says why. */
  get session(): Session | undefined {
    return this.#session
  }

  get reason(): string {
    return this.#reason
  }

  start(): void {
    this.#later(() => this.#once(() => this.#connect()), 0)
  }

  /** Proves that the server answers, unless that was proved within `milliseconds`; connects where it has to. Throws why it does not. */
  async prove(milliseconds: number): Promise<Session> {
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
  #awaited(signal: AbortSignal): Promise<Session> {
    if (!this.#work) throw new ToolFailure(this.#reason)
    return untilAborted(this.#work, signal)
  }

  /** At most one at a time; whoever comes meanwhile gets the same. */
  #once(work: () => Promise<Session>): Promise<Session> {
    this.#work ??= work().finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  #later(work: () => Promise<unknown>, milliseconds: number): void {
    clearTimeout(this.#timer)
    if (this.#closing.signal.aborted) return
    // What fails has been logged, and plans the next time by itself.
    const attempt = () => void work().catch(() => undefined)
    this.#timer = setTimeout(attempt, milliseconds).unref()
  }

  async #connect(): Promise<Session> {
    clearTimeout(this.#timer)
    const { name, target, log } = this.#options
    try {
      const session = await openSession(target(), this.#events(), this.#deadline())
      await this.#list(session).catch(async (error: unknown) => {
        await session.close()
        throw error
      })
      this.#session = session
      this.#failures = 0
      log.info({ connection: name, transport: session.transport }, 'MCP server connected')
      return session
    } catch (error) {
      this.#giveUp(error)
      throw error
    }
  }

  async #list(session: Session): Promise<void> {
    await this.#options.onTools(await session.listTools(this.#deadline()))
    this.#provedAt = Date.now()
    this.#later(() => this.prove(0), HEARTBEAT_MS)
  }

  /** A server that forgot the session, or was started anew, gets a second chance at once. */
  async #check(held: Session): Promise<Session> {
    try {
      await this.#list(held)
      return held
    } catch (error) {
      this.#tell('MCP server is connected to anew', error)
      return this.#renew()
    }
  }

  async #renew(): Promise<Session> {
    await this.#drop()
    return this.#connect()
  }

  #events() {
    return {
      toolsChanged: () => this.#later(() => this.prove(0), 0),
      trouble: () => this.#later(() => this.prove(0), FIRST_RETRY_MS),
    }
  }

  /** A failed call says nothing of the server by itself, so it is asked; calls that time out again and again do. */
  async #note(error: unknown): Promise<void> {
    this.#timeouts = isTimeout(error) ? this.#timeouts + 1 : 0
    if (this.#timeouts < MAX_TIMEOUTS) return this.#later(() => this.prove(0), 0)
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
    const wait = FIRST_RETRY_MS * 2 ** (this.#failures - 1)
    this.#later(() => this.#once(() => this.#connect()), Math.min(wait, LAST_RETRY_MS))
  }

  async #drop(): Promise<void> {
    const dropped = this.#session
    this.#session = undefined
    await dropped?.close().catch((error: unknown) => this.#tell('MCP session did not close', error))
  }

  #tell(message: string, error: unknown): void {
    this.#options.log.info({ connection: this.#options.name, kind: kindOf(error) }, message)
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(CONNECT_MS)])
  }
}
