import { type Cell, DAY_ZERO } from '../sheet-tables.ts'

/** Number formats with a sign: `0.0%`, `#,##0.00 [$€-407]`, `"CHF" 0.00`. */
export const SIGNED = /[%$€£¥₹]|"[A-Z]{3}"/

const SECONDS_PER_DAY = 86_400
/** 1 January 1904 is the day 0 of workbooks of old Macintoshes. */
const DAY_ZERO_1904 = Date.UTC(1904, 0, 1)

export const dayZeroOf = (is1904: boolean | undefined) => (is1904 ? DAY_ZERO_1904 : DAY_ZERO)

/** A number that is formatted as a date counts days; one that is no valid date is left out. */
export function dateAt(dayZero: number, days: number): Cell {
  const date = new Date(dayZero + Math.round(days * SECONDS_PER_DAY) * 1_000)
  return Number.isNaN(date.getTime()) ? null : date
}
