import type { Fragment } from './pdf-fragments.ts'

// Bold letters are made by drawing a text again a little aside, as a whole, in parts, or letter by letter.

/** The distance of a text from its copy, in heights and in points. */
const ASIDE = 0.15
const MAX_ASIDE = 2
/** An overlap of fewer heights is one of letters that belong together. */
const MIN_OVERLAP = 0.15
/** Fragments of a line that are compared with a further one. */
const MAX_COMPARED = 4
const NARROW = /[fijlrtI.,;:'’|!()[\] -]/
const WIDE = /[mwMW@%—]/
const CAPITAL = /[\p{Lu}&#]/u

/** Leaves out what was drawn again in its place. */
export function withoutReprints(fragments: readonly Fragment[]): Fragment[] {
  const places = new Map<string, Fragment[]>()
  const lines = new Map<number, Fragment[]>()
  const result: Fragment[] = []
  for (const fragment of fragments) {
    const line = [-1, 0, 1].flatMap(
      (step) => lines.get(lineOf(fragment) + step)?.slice(-MAX_COMPARED) ?? [],
    )
    const isCopy = cellsAround(fragment).some((place) =>
      places.get(place)?.some((one) => isAside(one, fragment)),
    )
    const rest = isCopy ? undefined : withoutOverlap(fragment, line)
    add(places, placeOf(fragment, 0, 0), fragment)
    if (!rest) continue
    add(lines, lineOf(rest), rest)
    result.push(rest)
  }
  return result
}

function add<Key>(map: Map<Key, Fragment[]>, key: Key, fragment: Fragment): void {
  const list = map.get(key)
  if (list) list.push(fragment)
  else map.set(key, [fragment])
}

const lineOf = ({ base }: Fragment) => Math.round(base / MAX_ASIDE)

const placeOf = ({ text, left, base }: Fragment, across: number, down: number) =>
  `${Math.round(left / MAX_ASIDE) + across} ${Math.round(base / MAX_ASIDE) + down} ${text}`

function cellsAround(fragment: Fragment): string[] {
  const steps = [-1, 0, 1]
  return steps.flatMap((across) => steps.map((down) => placeOf(fragment, across, down)))
}

function isAside(one: Fragment, other: Fragment): boolean {
  const most = Math.min(MAX_ASIDE, other.height * ASIDE)
  return (
    Math.abs(one.left - other.left) <= most &&
    Math.abs(one.base - other.base) <= most &&
    Math.abs(one.height - other.height) <= most
  )
}

/** A text without the letters at its beginning that stand in their place already; undefined if all do. */
function withoutOverlap(fragment: Fragment, line: readonly Fragment[]): Fragment | undefined {
  let rest = fragment
  for (const before of line) {
    const overlap = before.right - rest.left
    const isSame =
      isAside({ ...before, left: rest.left }, rest) && before.left <= rest.left + MAX_ASIDE
    if (!isSame || overlap < rest.height * MIN_OVERLAP) continue
    const count = repeatedLetters(before.text, rest, overlap)
    const text = rest.text.slice(count).trimStart()
    if (text === '') {
      before.right = Math.max(before.right, rest.right)
      return undefined
    }
    if (count === 0) continue
    const left = rest.right - widthOf(text, rest)
    rest = withoutDoubled({ ...rest, text, left })
  }
  return rest
}

/** Narrow letters that stand twice or more, an even number of times. */
const DOUBLED = /([fijlrtI.,;:'|!])\1(?:\1\1)*/g
/** In heights. */
const NARROW_WIDTH = 0.24

/** Copies of narrow letters that the parser took into one text with them, which is too narrow for both. */
function withoutDoubled(fragment: Fragment): Fragment {
  const { text, left, right, height } = fragment
  const single = text.replaceAll(DOUBLED, (letters) => letters.slice(letters.length / 2))
  const copies = (text.length - single.length) * NARROW_WIDTH * height
  const isNarrow = right - left < weightOf(text) * height - copies * 0.4
  return copies > 0 && isNarrow ? { ...fragment, text: single } : fragment
}

/** How many of the first letters of a text are the last of the one before, as wide as both overlap. */
function repeatedLetters(before: string, rest: Fragment, overlap: number): number {
  let [best, least] = [0, Math.max(rest.height * MIN_OVERLAP, overlap * 0.2)]
  for (let count = 1; count <= Math.min(before.length, rest.text.length); count++) {
    const beginning = rest.text.slice(0, count)
    const off = Math.abs(widthOf(beginning, rest) - overlap)
    const isRepeated =
      before.endsWith(beginning) || (rest.text.length === count && before.includes(beginning))
    if (off <= least && isRepeated) [best, least] = [count, off]
  }
  return best
}

/** The width of a part of a text, in points, by how wide its letters usually are. */
function widthOf(part: string, { text, left, right }: Fragment): number {
  return ((right - left) * weightOf(part)) / Math.max(weightOf(text), 0.1)
}

function weightOf(text: string): number {
  let weight = 0
  for (const letter of text) {
    weight += NARROW.test(letter)
      ? 0.3
      : WIDE.test(letter)
        ? 0.85
        : CAPITAL.test(letter)
          ? 0.68
          : 0.54
  }
  return weight
}
