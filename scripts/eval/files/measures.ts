/** What a file says, as a reader that knows nothing but its markup finds it. */
export interface Content {
  text: string
  /** The rows of its tables with at least two cells that are not empty. */
  rows: readonly (readonly string[])[]
}

/** Tags of line breaks in cells, and marks of emphasis, of code and of escapes, which may split a word. */
const MARKUP = /<br\s*\/?>|[*`~\\\u00ad\u200b]/g
const WORD = /[\p{L}\p{N}]+/gu
const PHRASE = 3

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(MARKUP, (mark) => (mark.startsWith('<') ? ' ' : ''))
    .match(WORD) ?? []

/** The share of the words that are found again, in any order and as often. Undefined if there are none. */
export function textRecall({ text }: Content, extracted: string): number | undefined {
  const words = wordsOf(text)
  const counts = countOf(wordsOf(extracted))
  const present = words.filter((word) => {
    const count = counts.get(word) ?? 0
    counts.set(word, count - 1)
    return count > 0
  })
  return words.length === 0 ? undefined : present.length / words.length
}

/**
 * The share of phrases in the right order: of those of three words that occur once in both, how many can follow each other
 * as they should. Undefined if there are fewer than two.
 */
export function orderRecall({ text }: Content, extracted: string): number | undefined {
  const [expected, actual] = [placesOf(text), placesOf(extracted)]
  const places = [...expected.keys()].flatMap((phrase) => actual.get(phrase) ?? [])
  return places.length < 2 ? undefined : longestRise(places) / places.length
}

/** The share of rows whose cells stand in one line, in their order. Undefined if there are none. */
export function rowRecall({ rows }: Content, extracted: string): number | undefined {
  const lines = extracted.split('\n').map((line) => ` ${wordsOf(line).join(' ')} `)
  const expected = rows
    .map((cells) => cells.map((cell) => wordsOf(cell).join(' ')).filter((cell) => cell !== ''))
    .filter((cells) => cells.length > 1)
  const present = expected.filter((cells) => lines.some((line) => hasInOrder(line, cells)))
  return expected.length === 0 ? undefined : present.length / expected.length
}

function hasInOrder(line: string, cells: readonly string[]): boolean {
  let from = 0
  return cells.every((cell) => {
    const at = line.indexOf(` ${cell} `, from)
    from = at + cell.length + 1
    return at >= 0
  })
}

function countOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** The place of each phrase that occurs once. */
function placesOf(text: string): Map<string, number> {
  const words = wordsOf(text)
  const phrases = words.map((_, at) => words.slice(at, at + PHRASE).join(' '))
  const counts = countOf(phrases)
  return new Map(
    phrases.flatMap((phrase, at) => (counts.get(phrase) === 1 ? [[phrase, at] as const] : [])),
  )
}

/** The length of the longest rising subsequence. */
function longestRise(places: readonly number[]): number {
  /** The lowest place that ends a rise of each length. */
  const ends: number[] = []
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    ends[low] = place
  }
  return ends.length
}
