import type { Cell } from './table-job.ts'

/** How the values of a column compare. */
export type KeyKind = 'number' | 'boolean' | 'time' | 'text'

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\([\d,]+\))$/
const TIME = /^(?:DATE|TIMESTAMP[\w ]*)$/
/** UTF-16 code units of a text that are compared. */
const LONGEST_KEY = 1_000
const LARGEST_INTEGER = 2n ** 63n

/** By the column's type in the database of tables. */
export function keyKindOf(type: string): KeyKind {
  if (NUMBER.test(type)) return 'number'
  if (TIME.test(type)) return 'time'
  return type === 'BOOLEAN' ? 'boolean' : 'text'
}

/**
 * What an index keeps of a value: numbers as such, whole ones exactly, truths as 0 and 1, days and times as
 * ISO texts, which sort. Nothing where the value is not of that kind.
 */
export function toKey(value: Cell, kind: KeyKind): string | number | bigint | null {
  if (value === null) return null
  const text = String(value)
  if (kind === 'text') return text.slice(0, LONGEST_KEY)
  if (kind === 'time') return /^\d/.test(text) ? text.replace('T', ' ').slice(0, LONGEST_KEY) : null
  if (kind === 'boolean') return /^(?:true|false)$/i.test(text) ? Number(/^t/i.test(text)) : null
  return toNumber(text)
}

function toNumber(text: string): number | bigint | null {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) return null
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(number)) return number
  const exact = BigInt(text)
  return exact < LARGEST_INTEGER && exact >= -LARGEST_INTEGER ? exact : number
}
