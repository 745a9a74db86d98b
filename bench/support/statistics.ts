/** The value below which `share` (0 to 1) of the values lie; NaN if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]) => percentile(values, 0.5)

/** A figure measured once per round: its median, lowest and highest value over the rounds. */
export interface Spread {
  median: number
  low: number
  high: number
}

export function spreadOf(rounds: readonly number[]): Spread {
  return { median: median(rounds), low: Math.min(...rounds), high: Math.max(...rounds) }
}

export function show({ median: middle, low, high }: Spread, digits = 2): string {
  return `${round(middle, digits)} (${round(low, digits)}–${round(high, digits)})`
}

/** Rounds to an integer from 100 on, below that to at most `digits` decimals; a dash for what is not finite. */
export function round(value: number, digits = 2): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return String(Math.round(value))
  return String(Number(value.toFixed(digits)))
}
