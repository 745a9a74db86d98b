/** How long a call may wait while the server answers others. */
const QUEUE_MS = 600_000

interface Limited {
  idleTimeoutMs: number
}

/** What renews the waits of the calls for each server's first word. */
const queues = new WeakMap<Limited, Set<() => void>>()

/**
 * Limits each wait for a server by one timer; the time between waits does not count, as a slow reader is not a stalled
 * server. Before the first word, a server that answers other calls is not silent: many local ones answer one after the
 * other.
 */
export class Patience {
  readonly #controller = new AbortController()
  readonly #queue: Set<() => void>
  readonly #caller: AbortSignal
  readonly #leaveQueueAt = performance.now() + QUEUE_MS
  #limitMs: number
  #timer: NodeJS.Timeout
  #isWaiting = false
  #isOver = false

  constructor(server: Limited, caller: AbortSignal) {
    this.#queue = queues.get(server) ?? new Set()
    queues.set(server, this.#queue)
    this.#queue.add(this.#renewInQueue)
    this.#caller = caller
    this.#limitMs = server.idleTimeoutMs
    this.#timer = setTimeout(this.#giveUp, this.#limitMs).unref()
    if (caller.aborted) this.#abort()
    else caller.addEventListener('abort', this.#abort)
  }

  /** Aborted when a wait took too long, or for the caller's reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether a wait took too long. */
  get isOver(): boolean {
    return this.#isOver
  }

  async wait<Result>(work: Promise<Result>): Promise<Result> {
    this.#isWaiting = true
    this.#timer.refresh()
    try {
      return await work
    } finally {
      this.#isWaiting = false
    }
  }

  /** To be called when anything arrives. */
  readonly renew = (): void => {
    this.#timer.refresh()
  }

  /** To be called with each part of the answer. */
  begin(): void {
    this.#queue.delete(this.#renewInQueue)
    for (const renew of this.#queue) renew()
  }

  /** Shortens the waits from now on. */
  limit(milliseconds: number): void {
    if (milliseconds >= this.#limitMs) return
    this.#limitMs = milliseconds
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#giveUp, milliseconds).unref()
  }

  /** To be called when the call is over; one that is not done is aborted. */
  end(isDone: boolean): void {
    if (!isDone) this.#controller.abort()
    clearTimeout(this.#timer)
    this.#queue.delete(this.#renewInQueue)
    this.#caller.removeEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => this.#controller.abort(this.#caller.reason)

  readonly #renewInQueue = (): void => {
    if (performance.now() < this.#leaveQueueAt) this.renew()
  }

  readonly #giveUp = (): void => {
    if (!this.#isWaiting) return
    this.#isOver = true
    this.#controller.abort(new DOMException('The time is over', 'TimeoutError'))
  }
}
