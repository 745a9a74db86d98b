import { untilAborted } from '@agent-server/lib/abort.ts'
import { byShare } from '@agent-server/lib/by-share.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { createLimiter, type Limiter, type Owner } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { RunRequest, Sandbox, SandboxSession, SessionRun } from './sandbox.ts'

const OPEN_MS = 60_000

/** What to run, and whose share it counts towards. */
interface OwnedRun extends RunRequest {
  owner: Owner
}

interface Dependencies {
  sandbox: (signal: AbortSignal) => Promise<Sandbox>
  /** Called when a sandbox cannot be opened. */
  onFailure: () => void
  maximum: number
  idleMs: number
  log: Pick<Log, 'warn'>
}

/** The maximum age of a session; the next run after that gets a new one, unless runs are in flight in the old one. */
const MAX_AGE_MS = 2 * 3_600_000

interface PooledSession {
  owner: Owner
  session: Promise<SandboxSession>
  openedAt: number
  /** Runs that are queued or in flight. */
  runs: number
  leave: () => void
  expiry?: NodeJS.Timeout | undefined
}

/**
 * One sandbox per conversation, for as long as it is used. Their number is bounded, and shared out among API keys: of
 * the key that has the most, the least recently used idle one ends first. Each ends after an idle timeout.
 */
export class SandboxSessions {
  readonly #dependencies: Dependencies
  readonly #closing = new AbortController()
  /** In order of use, most recently used last. */
  readonly #pooled = new Map<string, PooledSession>()
  readonly #places: Limiter

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#places = createLimiter({ name: 'sandboxes', capacity: dependencies.maximum })
  }

  /**
   * Runs code in the conversation's sandbox; opens one if there is none. Throws AppError `sandbox_unavailable` if none
   * can be opened or all are in use, and the reason of `signal` if it is aborted.
   */
  async run(
    sessionId: string,
    { owner, ...request }: OwnedRun,
    signal: AbortSignal,
  ): Promise<SessionRun> {
    this.#closing.signal.throwIfAborted()
    const { entry, fresh } = await this.#acquire(sessionId, owner)
    try {
      const session = await untilAborted(entry.session, signal)
      return { ...(await session.run(request, signal)), fresh }
    } finally {
      await this.#release(sessionId, entry)
    }
  }

  /** Ends the sandbox of a conversation, if there is one. */
  async end(sessionId: string): Promise<void> {
    const entry = this.#pooled.get(sessionId)
    if (!entry) return
    this.#pooled.delete(sessionId)
    entry.leave()
    clearTimeout(entry.expiry)
    const session = await opened(entry)
    try {
      await session?.kill()
    } catch (error) {
      this.#dependencies.log.warn({ err: error }, 'ending an unused sandbox failed')
    }
  }

  /** Ends all sandboxes; no new ones are opened afterwards. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('shutting_down', 'The server is shutting down'))
    await Promise.all([...this.#pooled.keys()].map((sessionId) => this.end(sessionId)))
  }

  /** The conversation's session if it still works, else a new one; it counts as in use until released. */
  async #acquire(
    sessionId: string,
    owner: Owner,
  ): Promise<{ entry: PooledSession; fresh: boolean }> {
    const pooled = this.#pooled
    for (let entry = pooled.get(sessionId); entry; entry = pooled.get(sessionId)) {
      entry.runs += 1
      clearTimeout(entry.expiry)
      pooled.delete(sessionId)
      pooled.set(sessionId, entry)
      const session = await opened(entry)
      if (session?.alive && !(isOld(entry) && entry.runs === 1)) return { entry, fresh: false }
      entry.runs -= 1
      if (pooled.get(sessionId) === entry) await this.end(sessionId)
    }
    // There was no `await` since the map was last read, so the next caller finds this entry.
    let leave = this.#places.take(owner)
    while (!leave) {
      void this.end(idleToEnd(pooled, owner))
      leave = this.#places.take(owner)
    }
    const session = this.#open()
    const entry: PooledSession = { owner, session, openedAt: performance.now(), runs: 1, leave }
    pooled.set(sessionId, entry)
    return { entry, fresh: true }
  }

  async #open(): Promise<SandboxSession> {
    const { sandbox, onFailure, log } = this.#dependencies
    const deadline = AbortSignal.timeout(OPEN_MS)
    const signal = AbortSignal.any([deadline, this.#closing.signal])
    try {
      return await openInTime(await sandbox(signal), signal)
    } catch (error) {
      onFailure()
      if (!this.#closing.signal.aborted) log.warn({ err: error }, 'opening a sandbox failed')
      if (error instanceof AppError) throw error
      throw new AppError('sandbox_unavailable', 'The sandbox does not start', { cause: error })
    }
  }

  async #release(sessionId: string, entry: PooledSession): Promise<void> {
    entry.runs -= 1
    const session = await opened(entry)
    if (entry.runs > 0 || this.#pooled.get(sessionId) !== entry) return
    if (!session?.alive) return this.end(sessionId)
    clearTimeout(entry.expiry)
    const { idleMs } = this.#dependencies
    entry.expiry = setTimeout(() => void this.end(sessionId), idleMs).unref()
  }
}

/**
 * Opens a session before the deadline, even if the sandbox ignores the signal (such as a hanging engine): a session
 * that opens too late is ended.
 */
async function openInTime(sandbox: Sandbox, signal: AbortSignal): Promise<SandboxSession> {
  const opening = sandbox.open(signal)
  try {
    return await untilAborted(opening, signal)
  } catch (error) {
    void ignore(
      opening.then((late) => late.kill()),
      'a session that opens too late has no user',
    )
    throw error
  }
}

/** The sandbox that makes way for one of `owner`: its own, or else one of somebody who has more. */
function idleToEnd(pooled: ReadonlyMap<string, PooledSession>, owner: Owner): string {
  const numbers = Map.groupBy(pooled.values(), (entry) => entry.owner)
  const numberOf = (whose: Owner) => numbers.get(whose)?.length ?? 0
  const idle = byShare(pooled, ([, entry]) => entry.owner).filter(([, { runs }]) => runs === 0)
  const place =
    idle.find(([, entry]) => entry.owner === owner) ??
    idle.find(([, entry]) => owner === undefined || numberOf(entry.owner) > numberOf(owner))
  if (place) return place[0]
  throw new AppError('sandbox_unavailable', 'All sandboxes are in use; try again later')
}

/** The session; undefined if it could not be opened. */
const opened = ({ session }: PooledSession) => ignore(session, 'logged when it failed to open')

const isOld = ({ openedAt }: PooledSession) => performance.now() - openedAt > MAX_AGE_MS
