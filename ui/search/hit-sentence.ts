/** A part of a text, in UTF-16 code units. */
export interface Span {
  start: number
  end: number
}

/** Words are compared by this many first letters. */
const STEM = 5
/** Length of a hit's excerpt before the sentence. */
const MAX_BEFORE = 200
const MAX_EXCERPT = 700
const WORD = /[\p{L}\p{N}]+/gu
/** Scripts that are written without spaces between words. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u
/** A line of a table, a list or a heading is a sentence of its own. */
const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** The sentence of a passage that has most of what was searched for; undefined if none has any of it. */
export function sentenceFor(query: string, text: string): Span | undefined {
  const queryStems = new Set(stemsOf(query))
  const spans = sentencesOf(text)
  const stems = spans.map(({ start, end }) => new Set(stemsOf(text.slice(start, end))))
  /** What is in every sentence tells nothing. */
  const weights = new Map(
    Array.from(queryStems, (stem) => {
      const count = stems.filter((each) => each.has(stem)).length
      return [stem, Math.log(1 + spans.length / Math.max(count, 1))]
    }),
  )
  let best: { span: Span; score: number } | undefined
  for (const [place, span] of spans.entries()) {
    let score = 0
    for (const [stem, weight] of weights) if (stems[place]?.has(stem)) score += weight
    if (score > (best?.score ?? 0)) best = { span, score }
  }
  return best?.span
}

const stemsOf = (text: string) =>
  Array.from(text.toLowerCase().normalize('NFKC').matchAll(WORD)).flatMap(([word]) =>
    WITHOUT_SPACES.test(word) ? pairsOf(word) : [word.slice(0, STEM)],
  )

const pairsOf = (word: string) =>
  Array.from({ length: Math.max(word.length - 1, 1) }, (_, at) => word.slice(at, at + 2))

function sentencesOf(text: string): Span[] {
  return Array.from(text.matchAll(/[^\n\f]+/g)).flatMap(({ 0: line, index }) =>
    Array.from(sentences.segment(line), ({ segment, index: at }) => {
      const start = index + at + (segment.length - segment.trimStart().length)
      return { start, end: start + segment.trim().length }
    }).filter(({ start, end }) => end > start),
  )
}

/** What is shown of a passage around its sentence: from the paragraph's beginning, if that is near. */
export function excerptAround(text: string, { start, end }: Span): { text: string; mark: Span } {
  const blank = text.lastIndexOf('\n\n', start)
  const first = beginsNear(text, blank === -1 ? 0 : blank + 2, start)
  const last = Math.max(end, first + MAX_EXCERPT)
  const space = text.length <= last ? text.length : text.lastIndexOf(' ', last)
  const until = Math.max(space, end)
  const before = first > 0 && text[first - 1] !== '\n' ? '… ' : ''
  const after = until < text.length ? ' …' : ''
  const shift = before.length - first
  return {
    text: `${before}${text.slice(first, until)}${after}`,
    mark: { start: start + shift, end: end + shift },
  }
}

function beginsNear(text: string, paragraph: number, start: number): number {
  if (start - paragraph <= MAX_BEFORE) return paragraph
  const line = text.lastIndexOf('\n', start) + 1
  if (start - line <= MAX_BEFORE) return line
  const space = text.indexOf(' ', start - MAX_BEFORE)
  return space === -1 || space >= start ? start : space + 1
}
