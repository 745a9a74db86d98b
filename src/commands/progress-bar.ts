const BAR_WIDTH = 24
const MILLISECONDS_BETWEEN_DRAWINGS = 100
const CLEAR_LINE = '\r\u001b[K'

/** Where the bar is drawn: standard error, of which only a terminal gets to see it. */
export interface ProgressTarget {
  isTTY?: boolean | undefined
  columns?: number | undefined
  write(text: string): unknown
}

/** One line that shows how far a long piece of work has come and how long it will take; nothing where nobody looks. Gone at its end (`using`). */
export function createProgressBar(target: ProgressTarget, label: string) {
  const begun = performance.now()
  let drawn = Number.NEGATIVE_INFINITY
  return {
    update(done: number, total: number, note = '') {
      const now = performance.now()
      const isDue = now - drawn >= MILLISECONDS_BETWEEN_DRAWINGS || done === total
      if (!target.isTTY || !isDue) return
      drawn = now
      const line = `${label} ${describe(done, total, now - begun)} ${note}`.trimEnd()
      target.write(CLEAR_LINE + line.slice(0, (target.columns ?? 80) - 1))
    },
    /** Takes the bar away. */
    [Symbol.dispose]() {
      if (target.isTTY) target.write(CLEAR_LINE)
    },
  }
}

function describe(done: number, total: number, elapsed: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(share * BAR_WIDTH)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  const left = share > 0 && share < 1 ? `, ${duration((elapsed / share) * (1 - share))} left` : ''
  return `${bar} ${done} of ${total} (${Math.floor(share * 100)} %)${left}`
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`
  return `${Math.floor(seconds / 3_600)} h ${Math.ceil((seconds % 3_600) / 60)} min`
}
