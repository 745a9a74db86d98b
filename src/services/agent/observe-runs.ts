import { AppError } from '../../errors.ts'
import type { AgentEvent } from './agent-event.ts'
import type { Agent } from './run-agent.ts'

export interface FinishedRun {
  /** The finish reason, an error code, or `abandoned` where the caller left. */
  outcome: string
  milliseconds: number
  /** Time to the first text, in milliseconds; nothing where none came. */
  firstDelta: number | undefined
}

/** Hears when a run begins and when it is over, however it ends. */
export interface RunObserver {
  runStarted(): void
  runEnded(run: FinishedRun): void
}

/** The same agent, telling `observer` of its runs. */
export function observeRuns(agent: Agent, observer: RunObserver): Agent {
  return {
    async *run(request, signal) {
      const started = performance.now()
      const seen: Seen = { outcome: 'abandoned', firstDelta: undefined }
      observer.runStarted()
      try {
        for await (const event of agent.run(request, signal)) {
          note(event, seen, started)
          yield event
        }
      } catch (error) {
        seen.outcome = outcomeOf(error, signal)
        throw error
      } finally {
        observer.runEnded({ ...seen, milliseconds: performance.now() - started })
      }
    },
  }
}

type Seen = Pick<FinishedRun, 'outcome' | 'firstDelta'>

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof AppError) return error.code
  return signal.aborted ? 'abandoned' : 'internal'
}

function note(event: AgentEvent, seen: Seen, started: number): void {
  if (event.type === 'text-delta') seen.firstDelta ??= performance.now() - started
  if (event.type === 'run-end') seen.outcome = event.reason
}
