/**
 * Signs that stand around what plain text cannot show, until the text is complete: only then is it known what stands
 * before and after. They are noncharacters of Unicode, which no text may contain.
 */
const SUPER = '\ufdd0'
const SUB = '\ufdd1'
const NOTE = '\ufdd2'
const END = '\ufdd3'
const READING = '\ufdd4'
const READING_END = '\ufdd5'
const RUBY = '\ufdd6'
const LABEL = '\ufdd7'
const LABEL_END = '\ufdd8'
const STRUCK = '\ufdd9'
const STRUCK_END = '\ufdda'

/** Text that stands above the line: an exponent, or the mark of a note. */
export const superscript = (text: string) => `${SUPER}${text}${END}`
/** Text that stands below the line. */
export const subscript = (text: string) => `${SUB}${text}${END}`
/** The mark of a note that a link leads to. */
export const noteMark = (text: string) => `${NOTE}${text}${END}`
/** Characters and how they are read. */
export const ruby = (base: string, reading: string) =>
  `${RUBY}${base}${READING}${reading}${READING_END}`
/** Text that is struck out: it no longer holds. */
export const struck = (text: string) => `${STRUCK}${text}${STRUCK_END}`
/** The number of an item, a heading or a paragraph, which it begins with. */
export const label = (text: string) => (text === '' ? '' : `${LABEL}${text}${LABEL_END}`)

const ANY = /[\ufdd0-\ufdda]/g
const STRUCKS = /\ufdd9([^\ufdd9\ufdda]*)\ufdda/g
const LABELS = /\ufdd7([^\ufdd7\ufdd8\n]*)\ufdd8[ \t]*/g
/** What was marked in several pieces is one. */
const PIECES = /([\ufdd0-\ufdd2])[^\ufdd0-\ufdd3]*\ufdd3(?:\1[^\ufdd0-\ufdd3]*\ufdd3)+/g
const SCRIPT = /([\ufdd0-\ufdd2])([^\ufdd0-\ufdd3]*)\ufdd3/g
const RUBIES = /(?:\ufdd6[^\ufdd4-\ufdd6]*\ufdd4[^\ufdd4-\ufdd6]*\ufdd5)+/g
const ONE_RUBY = /\ufdd6([^\ufdd4-\ufdd6]*)\ufdd4([^\ufdd4-\ufdd6]*)\ufdd5/g
/** UTF-16 code units before a script that are examined. */
const MAX_BEFORE = 40

/** Writes what is marked so that no number is joined with another: `10^6`, `45[2]`, `m²`, `CO₂`, `~~40~~ 50`. */
export function withoutMarks(text: string): string {
  if (text.search(ANY) < 0) return text
  const labelled = text.replaceAll(LABELS, '$1 ')
  const scripted = withScripts(labelled.replaceAll(RUBIES, inBrackets))
  return scripted.replaceAll('\ufdda\ufdd9', '').replaceAll(STRUCKS, strike).replaceAll(ANY, '')
}

/** Each line by itself, as Markdown has it. */
const strike = (_: string, text: string) => text.replaceAll(/\S(?:.*\S)?/g, '~~$&~~')

/** The label that a text begins with, and the rest. */
export function splitLabel(text: string): [label: string | undefined, rest: string] {
  const [whole = '', own] = /^\ufdd7([^\ufdd8]*)\ufdd8\s*/.exec(text) ?? []
  return [own, text.slice(whole.length)]
}

/** The readings of a word follow the whole word, so that it is found. */
function inBrackets(rubies: string): string {
  const pairs = [...rubies.matchAll(ONE_RUBY)]
  const base = pairs.map(([, word]) => word).join('')
  const readings = pairs.map(([, , reading = '']) => reading.trim()).filter(Boolean)
  return readings.length === 0 ? base : `${base}(${readings.join(' ')})`
}

function withScripts(text: string): string {
  const parts: string[] = []
  let before = ''
  let position = 0
  const add = (part: string) => {
    parts.push(part)
    before = (before + part).slice(-MAX_BEFORE)
  }
  const joined = withoutInner(text)
  for (const { index, 0: whole, 1: kind, 2: content = '' } of joined.matchAll(SCRIPT)) {
    add(joined.slice(position, index))
    position = index + whole.length
    const after = joined.slice(position, position + 2).replaceAll(/[*_]/g, '')[0] ?? ''
    add(written(kind ?? '', content, { before: before.replace(/[*_]{1,2}$/, ''), after }))
  }
  add(joined.slice(position))
  return parts.join('')
}

/** Marks within marks mean nothing more. */
function withoutInner(text: string): string {
  let depth = 0
  const outer = text.replaceAll(/[\ufdd0-\ufdd3]/g, (mark) => {
    if (mark !== END) return depth++ === 0 ? mark : ''
    if (depth === 0) return ''
    return --depth === 0 ? mark : ''
  })
  return outer.replaceAll(
    PIECES,
    (pieces, kind: string) => `${kind}${pieces.replaceAll(ANY, '')}${END}`,
  )
}

interface Around {
  before: string
  after: string
}

function written(kind: string, content: string, around: Around): string {
  const sign = content.trim()
  const at = content.indexOf(sign)
  const [start, end] = [content.slice(0, at), content.slice(at + sign.length)]
  if (sign === '') return content
  const write = kind === SUB ? writeSub : kind === NOTE ? writeNote : writeSuper
  return `${start}${write(sign, { ...around, before: around.before + start, after: end || around.after })}${end}`
}

const IN_BRACKETS = /^[[(（].*[\])）]$|^[^\p{L}\p{N}]+$/u
/** The unit or variable before an exponent; a longer word has a note. */
const UNIT = /(?<!\p{L})(?:\p{L}{1,2}|sec|mol|rad)$/u
const ORDINAL = /^(?:st|nd|rd|th|er|re|e|ème|eme|ère|ere|nde?|o|os|as|ter)$/i
const NUMBER = /^[+\-−–]?\d+$/
const PLAIN = /^[+\-−–]?[\p{L}\p{N}.,]+$/u

function writeSuper(sign: string, { before, after }: Around): string {
  if (IN_BRACKETS.test(sign)) return sign
  if (NUMBER.test(sign) && UNIT.test(before)) return raised(sign)
  if (/^\p{L}+$/u.test(sign)) {
    if (/\d$/.test(before) && ORDINAL.test(sign)) return sign
    if (/\p{L}\.?$/u.test(before) && sign.length > 1) return sign
  }
  return `^${closed(sign, after)}`
}

function writeSub(sign: string, { before, after }: Around): string {
  if (IN_BRACKETS.test(sign)) return sign
  if (NUMBER.test(sign) && /[\p{L})\]]$/u.test(before)) return lowered(sign)
  return before === '' || /\s$/.test(before) ? sign : `_${closed(sign, after)}`
}

function writeNote(sign: string, { before }: Around): string {
  const isFree = before === '' || /\s$/.test(before)
  return isFree || IN_BRACKETS.test(sign) ? sign : `[${sign}]`
}

const closed = (sign: string, after: string) =>
  PLAIN.test(sign) && !/[\p{L}\p{N}]/u.test(after) ? sign : `{${sign}}`

const DIGITS = '0123456789+-'
const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻'
const LOWERED = '₀₁₂₃₄₅₆₇₈₉₊₋'

const inDigits = (digits: string) => (number: string) =>
  number.replaceAll(/[−–]/g, '-').replaceAll(/./g, (sign) => digits[DIGITS.indexOf(sign)] ?? sign)
const raised = inDigits(RAISED)
const lowered = inDigits(LOWERED)
