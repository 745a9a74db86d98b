import type { Cell } from './table-job.ts'

/** UTF-16 code units of one cell. */
const LONGEST_CELL = 1_000

/** A value of the engine, as JSON, in a form that can be shown. */
export function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…`.toWellFormed() : text
}
