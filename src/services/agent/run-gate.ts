import { AppError } from '../../errors.ts'
import type { RunFinishReason, Usage } from '../../schemas/chat.ts'

const RETRY_AFTER_SECONDS = 2
/** Tools that a run names; models name some that there are not. */
const MAX_TOOLS = 50

export interface FinishedRun {
  /** The finish reason, an error code, or `abandoned` where the caller left. */
  outcome: string
  milliseconds: number
  /** Time to the first text, in milliseconds; nothing where none came. */
  firstDelta: number | undefined
  /** Of all model calls; nothing where none was reported. */
  usage: Usage | undefined
  /** How often each tool was called, by its name. */
  tools: Readonly<Record<string, number>>
}

/** Is told when a run begins, and when it is over for whatever reason. */
export interface RunObserver {
  runStarted(): void
  runEnded(run: FinishedRun): void
}

export interface RunGateOptions {
  /** Runs under way at once; further ones are refused. */
  maxRuns: number
  observer: RunObserver
}

export type RunGate = ReturnType<typeof createRunGate>

/** Counts the runs under way, and reports each to the observer. */
export function createRunGate({ maxRuns, observer }: RunGateOptions) {
  let open = 0

  return {
    /** Lets a run begin, which must `leave` in the end. Throws `too_many_runs`. */
    enter() {
      if (open >= maxRuns) {
        const message = `${maxRuns} chats are under way; try again shortly`
        throw new AppError('too_many_runs', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      open += 1
      observer.runStarted()
      const started = performance.now()
      let outcome = 'abandoned'
      let firstDelta: number | undefined
      const tools = new Map<string, number>()

      return {
        /** Some text goes to the caller. */
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
          if (error instanceof AppError) outcome = error.code
          else outcome = signal.aborted ? 'abandoned' : 'internal'
        },
        leave(usage: Usage | undefined) {
          open -= 1
          const milliseconds = performance.now() - started
          const called = Object.fromEntries(tools)
          observer.runEnded({ outcome, firstDelta, milliseconds, usage, tools: called })
        },
      }
    },
  }
}
