import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, type Owner } from '@agent-server/lib/limiter.ts'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type { Usage } from '@agent-server/schemas/query.ts'

const RETRY_AFTER_SECONDS = 2
/** Maximum number of tool names recorded per run, since models may invent names. */
const MAX_TOOLS = 50

export interface FinishedRun {
  /** The id of the recorded run; undefined if runs are not recorded. */
  id?: string | undefined
  /** The finish reason, an error code, or `abandoned` if the caller left. */
  outcome: string
  milliseconds: number
  /** Time to the first text, in milliseconds; undefined if there was none. */
  firstDelta: number | undefined
  /** Usage of all model calls, including those before a pause; undefined if none was reported. */
  usage: Usage | undefined
  /** Number of calls per tool name. */
  tools: Readonly<Record<string, number>>
}

/** The end of a run, as reported to its recorder. */
interface EndedTrace {
  readonly id: string
  ended(run: FinishedRun, error: unknown): void
}

/** Notified when a run starts, and when it ends for whatever reason. */
export interface RunObserver {
  runStarted(): void
  runEnded(run: FinishedRun): void
}

export interface RunLimiterOptions {
  /** Maximum number of concurrent runs; more are refused. */
  maxRuns: number
  observer: RunObserver
}

export type RunLimiter = ReturnType<typeof createRunLimiter>

/** Limits the number of concurrent runs and reports each to the observer. */
export function createRunLimiter({ maxRuns, observer }: RunLimiterOptions) {
  const runs = createLimiter({ name: 'chats', capacity: maxRuns })

  return {
    /** Starts a run, which must call `release` in the end. Throws AppError `too_many_runs`. */
    acquire(owner: Owner, trace?: EndedTrace) {
      const leave = runs.take(owner)
      if (!leave) {
        const message = `Too many chats are in progress (at most ${maxRuns}, shared by all keys); try again shortly`
        throw new AppError('too_many_runs', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      observer.runStarted()
      const started = performance.now()
      let outcome = 'abandoned'
      let firstDelta: number | undefined
      let failure: unknown
      const tools = new Map<string, number>()

      return {
        /** To be called when text is sent to the caller. */
        text() {
          firstDelta ??= performance.now() - started
        },
        called(calls: readonly { name: string }[]) {
          for (const { name } of calls) {
            const count = tools.get(name) ?? 0
            if (count > 0 || tools.size < MAX_TOOLS) tools.set(name, count + 1)
          }
        },
        end(reason: RunFinishReason) {
          outcome = reason
        },
        fail(error: unknown, signal: AbortSignal) {
          failure = error
          if (error instanceof AppError) outcome = error.code
          else outcome = signal.aborted ? 'abandoned' : 'internal'
        },
        release(usage: Usage | undefined) {
          leave()
          const milliseconds = performance.now() - started
          const called = Object.fromEntries(tools)
          const run = { outcome, firstDelta, milliseconds, usage, tools: called }
          trace?.ended(run, failure)
          observer.runEnded(trace ? { ...run, id: trace.id } : run)
        },
      }
    },
  }
}
