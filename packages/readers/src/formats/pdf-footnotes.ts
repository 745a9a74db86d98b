import { superscript } from '../marks.ts'
import { type Fragment, type Line, textOf } from './pdf-fragments.ts'

/** A reference to a footnote: a number or a sign, in smaller letters and raised. */
const MARK = /^(?:\d{1,3}|[*†‡§¶]{1,3})$/u
/** A footnote whose mark is not raised. */
const NUMBERED = /^(\d{1,3}|[*†‡§¶]{1,3})(?:[.)]?\s+|(?=\p{Lu}))(?=\S)/u
/** Pages with more marks hold formulas or drawings. */
const MAX_MARKS = 200
/** Letters are of one size if their heights differ by less than this factor. */
const SAME_HEIGHT = 1.12
/** Lines of a footnote are at most this many heights apart. */
const LINE_GAP = 1.6
/** Gaps within a line are at most this many heights wide. */
const WORD_GAP = 1.2
/** Lines in larger letters that may stand below footnotes: the footer of the page. */
const MAX_LINES_BELOW = 2

const MAX_NOTE_LINES = 40

interface Reference {
  mark: Fragment
  /** What it follows. */
  owner: Fragment
}

interface Note {
  label: string
  mark: Fragment
  /** The fragments of each of its lines, without the mark. */
  lines: Fragment[][]
}

/**
 * Joins raised marks with what they follow. Those with a footnote become `[^1]`; the footnotes are taken out, to be read
 * after the page, each beginning with `[^1]: `.
 */
export function tieFootnotes(fragments: readonly Fragment[]) {
  const references = referencesIn(fragments)
  const notes = notesFor(references, fragments)
  const labels = new Set(notes.map(({ label }) => label))
  const removed = new Set(notes.flatMap(({ mark, lines }) => [mark, ...lines.flat()]))
  const replacements = new Map<Fragment, Fragment>()
  for (const { mark, owner } of references) {
    removed.add(mark)
    const before = replacements.get(owner) ?? owner
    const sign = labels.has(mark.text) ? `[^${mark.text}]` : superscript(mark.text)
    const text = before.text + sign
    replacements.set(owner, { ...before, text, right: Math.max(before.right, mark.right) })
  }
  const rest = fragments
    .filter((one) => !removed.has(one))
    .map((one) => replacements.get(one) ?? one)
  return { rest, footnotes: notes.flatMap(toLines) }
}

function referencesIn(fragments: readonly Fragment[]): Reference[] {
  const marks = fragments.filter(({ text }) => MARK.test(text))
  if (marks.length > MAX_MARKS) return []
  return marks.flatMap((mark) => {
    const owner = fragments.find((one) => isRaised(mark, one) && isNext(one, mark, 0.5))
    return owner ? [{ mark, owner }] : []
  })
}

interface Start {
  label: string
  mark: Fragment
  /** The text after the mark. */
  first: Fragment
}

function notesFor(references: readonly Reference[], fragments: readonly Fragment[]): Note[] {
  const starts = startsIn(references, fragments)
  const begins = new Set(starts.flatMap(({ mark, first }) => [mark, first]))
  return starts
    .map(({ label, mark, first }) => ({ label, mark, lines: linesFrom(first, fragments, begins) }))
    .filter((note) => isAtEnd(note, fragments))
}

function startsIn(references: readonly Reference[], fragments: readonly Fragment[]): Start[] {
  const marks = new Set(references.map(({ mark }) => mark))
  const labels = new Set(references.map(({ mark }) => mark.text))
  const most = Math.max(...references.map(({ owner }) => owner.height))
  const starts: Start[] = []
  for (const mark of fragments) {
    const [prefix, label = mark.text] = NUMBERED.exec(mark.text) ?? []
    if (!labels.has(label) || marks.has(mark)) continue
    const first =
      prefix === undefined
        ? fragments.find((one) => isRaised(mark, one) && isNext(mark, one, 2))
        : { ...mark, text: mark.text.slice(prefix.length) }
    if (first && first.height * SAME_HEIGHT < most) starts.push({ label, mark, first })
    if (starts.length > MAX_MARKS) return []
  }
  return starts
}

const isRaised = (mark: Fragment, { base, height }: Fragment) =>
  height > mark.height * SAME_HEIGHT &&
  base - mark.base > height * 0.15 &&
  base - mark.base < height * 0.7

const isNext = (one: Fragment, next: Fragment, heights: number) => {
  const gap = next.left - one.right
  const height = Math.max(one.height, next.height)
  return gap > -0.2 * height && gap < heights * height
}

/** The lines of a footnote from its first fragment on. */
function linesFrom(
  first: Fragment,
  fragments: readonly Fragment[],
  starts: ReadonlySet<Fragment>,
): Fragment[][] {
  const { height } = first
  const small = fragments.filter(
    (one) => one.height < height * SAME_HEIGHT && one.height * SAME_HEIGHT > height,
  )
  const lineFrom = (start: Fragment): Fragment[] => {
    const line = [start]
    const more = small
      .filter(({ base, left }) => Math.abs(base - start.base) < height * 0.2 && left > start.left)
      .toSorted((a, b) => a.left - b.left)
    for (const fragment of more) {
      const isFar = fragment.left - (line.at(-1)?.right ?? 0) > height * WORD_GAP
      if (isFar || starts.has(fragment)) break
      line.push(fragment)
    }
    return line
  }
  const lines = [lineFrom(first)]
  const right = lines[0]?.at(-1)?.right ?? first.right
  while (lines.length < MAX_NOTE_LINES) {
    const base = lines.at(-1)?.[0]?.base ?? 0
    const [next] = small
      .filter((one) => one.base > base + height * 0.5 && one.base < base + height * LINE_GAP)
      .filter((one) => one.left > first.left - 3 * height && one.left < right)
      .toSorted((a, b) => a.left - b.left)
    if (!next || starts.has(next)) break
    lines.push(lineFrom(next))
  }
  return lines
}

/** Whether no text of the page follows below. */
function isAtEnd({ lines }: Note, fragments: readonly Fragment[]): boolean {
  const all = lines.flat()
  const [left, right] = [
    Math.min(...all.map((one) => one.left)),
    Math.max(...all.map((one) => one.right)),
  ]
  const { base = 0, height = 0 } = lines.at(-1)?.[0] ?? {}
  const below = fragments.filter(
    (one) =>
      one.base > base + height * 0.5 &&
      one.height > height * SAME_HEIGHT &&
      one.left < right &&
      one.right > left,
  )
  return new Set(below.map((one) => Math.round(one.base))).size <= MAX_LINES_BELOW
}

function toLines({ label, lines }: Note): Line[] {
  return lines.map((line, n) => ({
    kind: 'line',
    text: `${n === 0 ? `[^${label}]: ` : ''}${textOf(line)}`,
    base: line[0]?.base ?? 0,
    height: line[0]?.height ?? 0,
  }))
}
