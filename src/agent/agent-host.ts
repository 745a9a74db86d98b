import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'

/** How long runs of a replaced agent may go on beyond their own limit of time, with its tools. */
const GRACE_MS = 120_000
/** Replaced agents that stay open for their runs; one more closes the first. */
const MAX_REPLACED = 4

/** What a host needs to know of an agent. */
interface HostedAgent {
  users: Users
  /** Connections and sandboxes: closed with the agent, unless another open agent has them, too. */
  parts: readonly { close(): unknown }[]
  configuration: { limits: { seconds: number } }
}

/** Counts who uses an agent. */
export class Users {
  #count = 0
  #idle = Promise.withResolvers<void>()

  hold(): Disposable {
    this.#count += 1
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        this.#count -= 1
        if (this.#count === 0) this.#idle.resolve()
      },
    }
  }

  /** Resolves once no run uses it. Throws the reason of the signal. */
  async gone(signal: AbortSignal): Promise<void> {
    while (this.#count > 0) {
      this.#idle = Promise.withResolvers()
      await untilAborted(this.#idle.promise, signal)
    }
  }
}

/** The agent that answers, and those it replaced, which stay open until their runs have ended. */
export class AgentHost<Agent extends HostedAgent> {
  #current: Agent
  readonly #log: Pick<Log, 'info' | 'warn'>
  readonly #open = new Set<Agent>()
  readonly #turn = createLimiter({ name: 'agent swaps', capacity: 1 })
  readonly #closing = new AbortController()
  /** The replaced agents, oldest first: what ends the wait for their runs, and their closing. */
  readonly #replaced: { stop: AbortController; closed: Promise<void> }[] = []

  constructor(first: Agent, log: Pick<Log, 'info' | 'warn'>) {
    this.#current = first
    this.#log = log
    this.#open.add(first)
  }

  /** To be read at each use. */
  get current(): Agent {
    return this.#current
  }

  /** Does `work` with the current agent, which stays open meanwhile. */
  async use<Result>(work: (agent: Agent) => Promise<Result>): Promise<Result> {
    const agent = this.#current
    using _held = agent.users.hold()
    return await work(agent)
  }

  /**
   * Opens another agent beside the current one, which it replaces once `settle` has succeeded: runs that have begun end
   * on theirs, the next takes the new one. If either fails, nothing changes. Swaps take turns.
   */
  swap(
    open: (current: Agent) => Promise<Agent>,
    settle: (next: Agent, current: Agent) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#turn.run(
      undefined,
      async () => {
        const before = this.#current
        const next = await open(before)
        this.#open.add(next)
        try {
          this.#closing.signal.throwIfAborted()
          await settle(next, before)
          this.#current = next
          this.#retire(before)
          this.#log.info({}, 'the agent answers with a new configuration')
        } catch (error) {
          await this.#close(next)
          throw error
        }
      },
      signal,
    )
  }

  async close(): Promise<void> {
    this.#closing.abort(new AppError('shutting_down', 'The server is shutting down'))
    for (const { stop } of this.#replaced) stop.abort()
    await Promise.all(this.#replaced.map(({ closed }) => closed))
    await this.#close(this.#current)
  }

  #retire(agent: Agent): void {
    const stop = new AbortController()
    const entry = { stop, closed: this.#closeWhenUnused(agent, stop.signal) }
    this.#replaced.push(entry)
    void entry.closed.finally(() => this.#replaced.splice(this.#replaced.indexOf(entry), 1))
    if (this.#replaced.length > MAX_REPLACED) this.#replaced[0]?.stop.abort()
  }

  async #closeWhenUnused(agent: Agent, stop: AbortSignal): Promise<void> {
    const { seconds } = agent.configuration.limits
    using deadline = startDeadline(seconds * 1_000 + GRACE_MS, stop)
    try {
      await agent.users.gone(deadline.signal)
    } catch {
      this.#log.warn(
        {},
        'a replaced agent is closed before its answers have ended; their tools fail',
      )
    }
    await this.#close(agent)
  }

  async #close(agent: Agent): Promise<void> {
    this.#open.delete(agent)
    const inUse = new Set([...this.#open].flatMap(({ parts }) => parts))
    const ownParts = agent.parts.filter((part) => !inUse.has(part))
    for (const result of await Promise.allSettled(ownParts.map(async (part) => part.close()))) {
      if (result.status === 'rejected')
        this.#log.warn({ err: result.reason }, 'a part of the agent did not close')
    }
  }
}
