import type { Unit } from './quotable-units.ts'

const LEAD = 'From your documents:'
const NOTHING =
  'Nothing in your documents answers this. Only quotes can be given: no language model is configured.'

const MAXIMUM_QUOTE_CHARACTERS = 400
const MAXIMUM_CODE_LINES = 20
const MAXIMUM_CODE_CHARACTERS = 1_000

/** A passage's own `[1]` would pass for a citation; links and code keep theirs. */
const NUMBER_IN_BRACKETS = /\[(\d+)\](?!\()/g
/** Sentences that lean on the one before. */
const LEANING = /^(?:it|this|that|these|those|they|he|she|however|therefore|such)\b/i

/** Writes the chosen quotes as Markdown, each with the number of its passage, from 1. */
export function writeAnswer(chosen: readonly Unit[], units: readonly Unit[]): string {
  if (chosen.length === 0) return NOTHING
  const quotes = joinNeighbours(chosen, units).map(writeQuote)
  return `${LEAD}\n\n${quotes.join('\n')}`.trimEnd()
}

/** Quotes that follow each other in a passage become one; the best of them decides its place. */
function joinNeighbours(chosen: readonly Unit[], units: readonly Unit[]): Unit[][] {
  const groups: Unit[][] = []
  for (const unit of chosen) {
    const near = groups.find((group) => group.some((other) => areNeighbours(unit, other)))
    if (near) near.push(unit)
    else groups.push([unit])
  }
  return groups.map((group) => withAntecedent(group.toSorted(byPosition), units))
}

function areNeighbours(one: Unit, other: Unit): boolean {
  return one.passage === other.passage && Math.abs(one.position - other.position) === 1
}

function byPosition(one: Unit, other: Unit): number {
  return one.position - other.position
}

function withAntecedent(group: Unit[], units: readonly Unit[]): Unit[] {
  const [first] = group
  if (first?.kind !== 'sentence' || !LEANING.test(first.text)) return group
  const before = units.find(
    (unit) =>
      areNeighbours(unit, first) && unit.position < first.position && unit.kind === 'sentence',
  )
  return before && before.context === first.context ? [before, ...group] : group
}

function writeQuote(group: readonly Unit[]): string {
  const number = (group[0]?.passage ?? 0) + 1
  const separator = group.every(({ kind }) => kind === 'item') ? '; ' : ' '
  const text = cut(
    tidy(
      group
        .map((unit) => unit.text)
        .filter(Boolean)
        .join(separator),
    ),
  )
  const line = `- ${[text, `[${number}]`].filter(Boolean).join(' ')}`
  const code = group.flatMap((unit) => unit.code)
  return code.length === 0 ? line : `${line}\n\n${writeCode(code)}\n`
}

function writeCode(code: readonly string[]): string {
  const lines = code.slice(0, MAXIMUM_CODE_LINES).join('\n').slice(0, MAXIMUM_CODE_CHARACTERS)
  return ['```', ...lines.split('\n'), '```'].map((line) => `  ${line}`).join('\n')
}

/** Keeps a piece of Markdown from spilling into what follows: emphasis and code left open are closed off. */
function tidy(text: string): string {
  let tidied = text.includes('`') ? text : text.replace(NUMBER_IN_BRACKETS, '($1)')
  for (const mark of ['**', '__', '`']) {
    const isOpen = tidied.split(mark).length % 2 === 0
    if (isOpen) tidied = tidied.replaceAll(mark, '')
  }
  return tidied.replace(/\s+/g, ' ').trim()
}

function cut(text: string): string {
  if (text.length <= MAXIMUM_QUOTE_CHARACTERS) return text
  const end = text.lastIndexOf(' ', MAXIMUM_QUOTE_CHARACTERS)
  const kept = text.slice(0, end > MAXIMUM_QUOTE_CHARACTERS / 2 ? end : MAXIMUM_QUOTE_CHARACTERS)
  return `${kept.toWellFormed().trimEnd()}…`
}
