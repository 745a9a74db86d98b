import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'

export interface CommandContext {
  /** The arguments after the command's name. */
  parameters: readonly string[]
  environment: NodeJS.ProcessEnv
  /** Loads the configuration on request, as not every command needs it. Throws `ConfigError`. */
  config(): Config
  createLog(config: Config): FastifyBaseLogger
  /** For progress and messages to the user. */
  stderr: ProgressTarget
  /** Aborted by the first SIGINT or SIGTERM. */
  signal: AbortSignal
}

/** Runs instead of the server; resolves with the exit code. */
export type Command = (context: CommandContext) => Promise<number>

const BAR_WIDTH = 24
const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[K'

/** Where the bar is drawn: standard error; it is shown only on a terminal. */
export interface ProgressTarget {
  isTTY?: boolean | undefined
  columns?: number | undefined
  write(text: string): unknown
}

/** A progress bar with the remaining time, as one line on a terminal. Removed at the end (`using`). */
export function createProgressBar(target: ProgressTarget, label: string) {
  const start = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    update(done: number, total: number, note = '') {
      const now = performance.now()
      const isDue = now - drawnAt >= REDRAW_MS || done === total
      if (!target.isTTY || !isDue) return
      drawnAt = now
      const line = `${label} ${describe(done, total, now - start)} ${note}`.trimEnd()
      target.write(CLEAR_LINE + line.slice(0, (target.columns ?? 80) - 1))
    },
    /** Removes the bar. */
    [Symbol.dispose]() {
      if (target.isTTY) target.write(CLEAR_LINE)
    },
  }
}

function describe(done: number, total: number, elapsed: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(share * BAR_WIDTH)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  const remaining =
    share > 0 && share < 1 ? `, ${duration((elapsed / share) * (1 - share))} left` : ''
  return `${bar} ${done} of ${total} (${Math.floor(share * 100)} %)${remaining}`
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`
  return `${Math.floor(seconds / 3_600)} h ${Math.ceil((seconds % 3_600) / 60)} min`
}
