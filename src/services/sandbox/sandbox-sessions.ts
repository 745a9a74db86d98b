import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { RunRequest, RunResult, Sandbox, SandboxSession } from '../../sandboxes/sandbox.ts'
import { createSessionShelf } from './session-shelf.ts'

const OPEN_MILLISECONDS = 60_000

export interface SessionRun extends RunResult {
  /** Whether nothing of an earlier run was there. */
  fresh: boolean
}

export interface SandboxSessions {
  /**
   * Runs code in the sandbox of a conversation; opens it where there is none. Throws `sandbox_unavailable`
   * where none can be opened, and what `signal` was aborted with.
   */
  run(conversation: string, request: RunRequest, signal: AbortSignal): Promise<SessionRun>
  /** Ends the sandbox of a conversation, if there is one. */
  end(conversation: string): Promise<void>
  /** Ends all of them; there are no new ones. */
  close(): Promise<void>
}

interface Dependencies {
  sandbox: (signal: AbortSignal) => Promise<Sandbox>
  /** Called where a sandbox cannot be opened. */
  onFailure: () => void
  maximum: number
  idleMilliseconds: number
  log: { warn(fields: object, message: string): void }
}

/** One sandbox for each conversation, as long as it is used. */
export function createSandboxSessions({
  sandbox,
  onFailure,
  ...shelfOptions
}: Dependencies): SandboxSessions {
  const closing = new AbortController()
  const shelf = createSessionShelf({ open, ...shelfOptions })

  async function open(): Promise<SandboxSession> {
    const deadline = AbortSignal.timeout(OPEN_MILLISECONDS)
    const signal = AbortSignal.any([deadline, closing.signal])
    try {
      const chosen = await sandbox(signal)
      return await chosen.open(signal)
    } catch (error) {
      onFailure()
      if (error instanceof AppError) throw error
      throw new AppError('sandbox_unavailable', 'The sandbox does not start', { cause: error })
    }
  }

  return {
    async run(conversation, request, signal) {
      closing.signal.throwIfAborted()
      const { entry, fresh } = await shelf.take(conversation)
      try {
        const session = await untilAborted(entry.session, signal)
        const result = await session.run(request, signal)
        return { ...result, fresh }
      } finally {
        await shelf.release(conversation, entry)
      }
    },
    end: shelf.end,
    async close() {
      closing.abort(new AppError('shutting_down', 'The server is being stopped'))
      await shelf.endAll()
    },
  }
}
