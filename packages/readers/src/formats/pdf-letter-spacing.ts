import { OPS } from 'pdfjs-dist'
import { z } from 'zod'
import { oneLine } from '../extracted.ts'
import { median } from '../median.ts'
import type { Fragment } from './pdf-fragments.ts'
import type { Operators } from './pdf-rules.ts'

// The parser puts a blank wherever letters are far apart, so letter-spaced words come as single letters.

/** Letters that blanks divide, at least three; what is shorter is spaced only beside such a text. */
const SPACED = /^\S(?: \S){2,}$/u
const SPACED_BESIDE = /^\S(?: \S)*$/u
/** Words are further apart than their letters by this factor. */
const WORD_FACTOR = 1.5
/** In thousandths of a height. */
const MIN_WORD_GAP = 120
/** Spaced words of a line are at most this many heights apart. */
const LINE_GAP = 3
const MAX_TEXTS = 20_000
/** Letters of a spaced word that are texts of their own are at most this many heights apart. */
const MAX_LETTER_GAP = 1.2
const MIN_LETTERS = 5

const Glyph = z.object({ unicode: z.string() })

/** Whether any text of a page looks letter-spaced. */
export const hasSpaced = (fragments: readonly Fragment[]) => runsOf(fragments).some(isSpacedRun)

/** A series such as `a b c` or `1 2 3` is what it looks like. */
function isSpaced(text: string): boolean {
  if (!SPACED.test(text) || !/\p{L}/u.test(text)) return false
  const codes = text.split(' ').map((letter) => letter.codePointAt(0) ?? 0)
  return !codes
    .slice(1)
    .every((code, n) => code - (codes[n] ?? 0) === (codes[1] ?? 0) - (codes[0] ?? 0))
}

/** Joins the letters of letter-spaced words; the texts as drawn on the page show where words begin. */
export function withoutSpacing(fragments: readonly Fragment[], operators: Operators): Fragment[] {
  const drawn = drawnTexts(operators)
  return runsOf(fragments).flatMap((run) => {
    const letters = run.map(({ text }) => text.replaceAll(' ', ''))
    if (!isSpacedRun(run))
      return run.map((one) => ({ ...one, text: joinedWithin(one.text, drawn) }))
    const words = letters.map((word) => drawn.get(word) ?? word)
    const whole = drawn.get(letters.join('')) ?? (isOfLetters(run) ? byGaps(run) : words.join(' '))
    const [first, last] = [run[0], run.at(-1)]
    return first && last ? [{ ...first, text: whole, right: last.right }] : []
  })
}

/** A letter-spaced word within a text. */
const WITHIN = /(?<!\S)\S(?: \S){3,}(?!\S)/gu

function joinedWithin(text: string, drawn: ReadonlyMap<string, string>): string {
  if (!hasSpacedWord(text)) return text
  const join = (word: string) => (isSpaced(word) ? word.replaceAll(' ', '') : word)
  return drawn.get(text.replaceAll(' ', '')) ?? text.replaceAll(WITHIN, join)
}

const hasSpacedWord = (text: string) =>
  isSpaced(text) || (text.match(WITHIN)?.some(isSpaced) ?? false)

const isSpacedRun = (run: readonly Fragment[]) =>
  run.every(({ text }) => SPACED_BESIDE.test(text)) &&
  (run.some(({ text }) => isSpaced(text)) || isOfLetters(run))

/** Whether each letter is a text of its own, about as far from the one before as others are. */
function isOfLetters(run: readonly Fragment[]): boolean {
  const gaps = gapsOf(run)
  const height = run[0]?.height ?? 0
  return (
    lettersOf(run).length >= MIN_LETTERS &&
    run.every(({ text }) => SPACED_BESIDE.test(text)) &&
    isSpaced(lettersOf(run).join(' ')) &&
    median(gaps) < height * MAX_LETTER_GAP
  )
}

const lettersOf = (run: readonly Fragment[]) => run.flatMap(({ text }) => text.split(' '))

const gapsOf = (run: readonly Fragment[]) =>
  run.slice(1).map(({ left }, n) => left - (run[n]?.right ?? left))

function byGaps(run: readonly Fragment[]): string {
  const gaps = gapsOf(run)
  const most = median(gaps) * WORD_FACTOR
  const words = run.map(({ text }) => text.replaceAll(' ', ''))
  return words.map((word, n) => ((gaps[n - 1] ?? 0) > most ? ` ${word}` : word)).join('')
}

/** Fragments that follow each other on a line. */
function runsOf(fragments: readonly Fragment[]): Fragment[][] {
  const runs: Fragment[][] = []
  for (const fragment of fragments) {
    const before = runs.at(-1)?.at(-1)
    if (before && isNext(before, fragment)) runs.at(-1)?.push(fragment)
    else runs.push([fragment])
  }
  return runs
}

const isNext = (one: Fragment, other: Fragment) =>
  Math.abs(one.base - other.base) < 1 &&
  other.left >= one.right - 1 &&
  other.left - one.right < other.height * LINE_GAP

/** The texts that a page draws, by their letters without blanks. */
function drawnTexts({ fnArray, argsArray }: Operators): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [n, operator] of fnArray.entries()) {
    if (operator !== OPS.showText) continue
    const args: unknown = argsArray[n]
    const glyphs: unknown = Array.isArray(args) ? args[0] : undefined
    if (!Array.isArray(glyphs)) continue
    const text = textOf(glyphs)
    texts.set(text.replaceAll(/\s+/g, ''), text)
    if (texts.size === MAX_TEXTS) break
  }
  return texts
}

/** Numbers between glyphs move them together, by thousandths of the height; where they move apart most, a word begins. */
function textOf(glyphs: readonly unknown[]): string {
  const gaps = glyphs.filter((glyph) => typeof glyph === 'number').map((gap) => -gap)
  const usual = median(gaps)
  const words = glyphs.map((glyph) => {
    if (typeof glyph !== 'number') return Glyph.safeParse(glyph).data?.unicode ?? ''
    return -glyph > usual * WORD_FACTOR && -glyph > usual + MIN_WORD_GAP ? ' ' : ''
  })
  return oneLine(words.join(''))
}
