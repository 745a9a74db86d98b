import { type Cell, DAY_ZERO } from '../sheet-tables.ts'

/**
 * What a number format (ECMA-376, 18.8.31) adds to a number: nothing; a unit, such as %, € or kg; or that its figures are a
 * code, such as a postcode, or stand for words.
 */
export type NumberFormat =
  | { kind: 'plain' | 'date' | 'code' | 'words' }
  | { kind: 'unit'; unit: string }

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))
const CURRENCY_SIGN = /\p{Sc}/u
/** A colour, a condition or a language, but no currency, which is `[$€-407]`. */
const CONDITION = /\[(?!\$)[^\]]*\]/g
/** Parts of a format: a currency, a quoted text, a sign behind a backslash, a space as wide as a sign, a filling sign. */
const PART = /\[\$([^\]-]*)[^\]]*\]|"([^"]*)"|\\(.)|([_*]).|(.)/gsu
const PLACEHOLDERS = /[0#?]/
/** Thousands left out: `0.0,,"M"` shows 1200000 as 1.2M. */
const SCALED = /[0#?],+[^0#?,]*$/

interface Part {
  sign: string
  isLiteral: boolean
}

export function numberFormatOf(format: string): NumberFormat {
  const [section = ''] = format.replaceAll(CONDITION, '').split(';')
  const parts = partsOf(section)
  const places = parts.filter(({ isLiteral }) => !isLiteral).map(({ sign }) => sign)
  const pattern = places.join('')
  if (/general|@/i.test(section) || section === '') return { kind: 'plain' }
  const first = parts.findIndex(isPlace)
  if (first < 0) return { kind: parts.some(({ sign }) => sign.trim() !== '') ? 'words' : 'plain' }
  const last = parts.findLastIndex(isPlace)
  const [before, within, after] = [
    literals(parts.slice(0, first)),
    literals(parts.slice(first, last)),
    literals(parts.slice(last + 1)),
  ]
  if (isCode(pattern, before, within)) return { kind: 'code' }
  const unit = [before, after, pattern.replaceAll(/[^%‰]/g, '')].find(isUnit)
  return unit === undefined || SCALED.test(pattern) ? { kind: 'plain' } : { kind: 'unit', unit }
}

function partsOf(section: string): Part[] {
  return Array.from(section.matchAll(PART), ([, currency, quoted, escaped, spacing, plain]) => {
    if (spacing !== undefined) return { sign: '', isLiteral: true }
    const literal = currency ?? quoted ?? escaped
    if (literal !== undefined) return { sign: literal, isLiteral: true }
    const sign = plain ?? ''
    return { sign, isLiteral: CURRENCY_SIGN.test(sign) || /[-() /]/.test(sign) }
  })
}

const isPlace = ({ sign, isLiteral }: Part) => !isLiteral && PLACEHOLDERS.test(sign)
const literals = (parts: readonly Part[]) =>
  parts
    .filter(({ isLiteral }) => isLiteral)
    .map(({ sign }) => sign)
    .join('')
    .replaceAll(/[()]/g, '')
    .trim()
/** A minus sign before the figures is the number's own. */
const isUnit = (text: string) => /[\p{L}\p{S}%‰°]/u.test(text)
const isMoney = (text: string) => CURRENCY_SIGN.test(text) || CURRENCIES.has(text)

/** Figures that are filled up with zeros, divided by hyphens, or have a prefix that is no currency. */
function isCode(pattern: string, before: string, within: string): boolean {
  if (/[.eE?,%‰]/.test(pattern)) return false
  const isPadded = /^0{2,}$/.test(pattern)
  const isDivided = /[-\p{L}]/u.test(within)
  const isPrefixed = /\p{L}/u.test(before) && !isMoney(before) && /[-/#]$/.test(before)
  return isPadded || isDivided || isPrefixed
}

const SECONDS_PER_DAY = 86_400
/** 1 January 1904 is the day 0 of workbooks of old Macintoshes. */
const DAY_ZERO_1904 = Date.UTC(1904, 0, 1)

export const dayZeroOf = (is1904: boolean | undefined) => (is1904 ? DAY_ZERO_1904 : DAY_ZERO)

/** A number that is formatted as a date counts days; one that is no valid date is left out. */
export function dateAt(dayZero: number, days: number): Cell {
  const date = new Date(dayZero + Math.round(days * SECONDS_PER_DAY) * 1_000)
  return Number.isNaN(date.getTime()) ? null : date
}
