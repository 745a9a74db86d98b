import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import type { RunRequest, RunResult, Sandbox, SandboxSession } from '../../sandboxes/sandbox.ts'

const OPEN_MS = 60_000

export interface SessionRun extends RunResult {
  /** Whether the session was new, with no state of an earlier run. */
  fresh: boolean
}

export type SandboxSessions = ReturnType<typeof createSandboxSessions>

interface Dependencies {
  sandbox: (signal: AbortSignal) => Promise<Sandbox>
  /** Called when a sandbox cannot be opened. */
  onFailure: () => void
  maximum: number
  idleMs: number
  log: { warn(fields: object, message: string): void }
}

/** One sandbox per conversation, for as long as it is used. */
export function createSandboxSessions({ sandbox, onFailure, log, ...bounds }: Dependencies) {
  const closing = new AbortController()
  const pool = createSessionPool({ open, log, ...bounds })

  async function open(): Promise<SandboxSession> {
    const deadline = AbortSignal.timeout(OPEN_MS)
    const signal = AbortSignal.any([deadline, closing.signal])
    try {
      return await openInTime(await sandbox(signal), signal)
    } catch (error) {
      onFailure()
      if (!closing.signal.aborted) log.warn({ err: error }, 'a sandbox cannot be opened')
      if (error instanceof AppError) throw error
      throw new AppError('sandbox_unavailable', 'The sandbox does not start', { cause: error })
    }
  }

  return {
    /**
     * Runs code in the conversation's sandbox; opens one if there is none. Throws AppError `sandbox_unavailable` if
     * none can be opened, and the reason of `signal` if it is aborted.
     */
    async run(conversation: string, request: RunRequest, signal: AbortSignal): Promise<SessionRun> {
      closing.signal.throwIfAborted()
      const { entry, fresh } = await pool.acquire(conversation)
      try {
        const session = await untilAborted(entry.session, signal)
        const result = await session.run(request, signal)
        return { ...result, fresh }
      } finally {
        await pool.release(conversation, entry)
      }
    },
    /** Ends the sandbox of a conversation, if there is one. */
    end: pool.end,
    /** Ends all sandboxes; no new ones are opened afterwards. */
    async close(): Promise<void> {
      closing.abort(new AppError('shutting_down', 'The server is being stopped'))
      await pool.endAll()
    },
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
    opening.then((late) => late.kill()).catch(() => undefined)
    throw error
  }
}

/** The maximum age of a session; the next run after that gets a new one, unless runs are in flight in the old one. */
const MAX_AGE_MS = 2 * 3_600_000

interface PooledSession {
  session: Promise<SandboxSession>
  openedAt: number
  /** Runs that are queued or in flight. */
  runs: number
  expiry?: NodeJS.Timeout | undefined
}

interface PoolOptions extends Pick<Dependencies, 'maximum' | 'idleMs' | 'log'> {
  open: () => Promise<SandboxSession>
}

/**
 * A pool of sessions by conversation: bounded in number, with the least recently used idle one evicted first; each ends
 * after an idle timeout.
 */
function createSessionPool({ open, maximum, idleMs, log }: PoolOptions) {
  /** In order of use, most recently used last. */
  const pooled = new Map<string, PooledSession>()

  async function end(conversation: string): Promise<void> {
    const entry = pooled.get(conversation)
    if (!entry) return
    pooled.delete(conversation)
    clearTimeout(entry.expiry)
    // A failure to open was logged when it happened.
    const session = await entry.session.catch(() => undefined)
    try {
      await session?.kill()
    } catch (error) {
      log.warn({ err: error }, 'a sandbox that is not needed any more could not be ended')
    }
  }

  function makeRoom(): void {
    if (pooled.size < maximum) return
    const idle = pooled.entries().find(([, { runs }]) => runs === 0)
    if (!idle) {
      throw new AppError('sandbox_unavailable', `All ${maximum} sandboxes are at work; try later`)
    }
    void end(idle[0])
  }

  return {
    /**
     * The conversation's session if it still works, else a new one; it counts as in use until released. Throws AppError
     * `sandbox_unavailable` if all are in use.
     */
    async acquire(conversation: string): Promise<{ entry: PooledSession; fresh: boolean }> {
      for (let entry = pooled.get(conversation); entry; entry = pooled.get(conversation)) {
        entry.runs += 1
        clearTimeout(entry.expiry)
        pooled.delete(conversation)
        pooled.set(conversation, entry)
        const session = await entry.session.catch(() => undefined)
        if (session?.alive && !(isOld(entry) && entry.runs === 1)) return { entry, fresh: false }
        entry.runs -= 1
        if (pooled.get(conversation) === entry) await end(conversation)
      }
      // There was no `await` since the map was last read, so the next caller finds this entry.
      makeRoom()
      const entry: PooledSession = { session: open(), openedAt: Date.now(), runs: 1 }
      pooled.set(conversation, entry)
      return { entry, fresh: true }
    },
    async release(conversation: string, entry: PooledSession): Promise<void> {
      entry.runs -= 1
      const session = await entry.session.catch(() => undefined)
      if (entry.runs > 0 || pooled.get(conversation) !== entry) return
      if (!session?.alive) return end(conversation)
      clearTimeout(entry.expiry)
      entry.expiry = setTimeout(() => void end(conversation), idleMs).unref()
    },
    end,
    async endAll(): Promise<void> {
      await Promise.all([...pooled.keys()].map(end))
    },
  }
}

const isOld = ({ openedAt }: PooledSession) => Date.now() - openedAt > MAX_AGE_MS
