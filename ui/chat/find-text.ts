/** A place in one of the pieces that a text is drawn in, in UTF-16 code units. */
interface Place {
  piece: number
  at: number
}

export interface Match {
  start: Place
  end: Place
}

const SYNTAX = /[\\^$.*+?()[\]{}|]/g

/** What finds words in a text as people mean them: upper and lower case are alike, and so is white space. */
export function patternOf(words: string): RegExp | undefined {
  const parts = words.trim().split(/\s+/)
  if (parts[0] === '') return undefined
  return new RegExp(parts.map((part) => part.replace(SYNTAX, '\\$&')).join('\\s+'), 'giu')
}

/** Where a pattern matches a text that is drawn in several pieces, across which words go on: half of one may be bold. */
export function matchesIn(pieces: readonly string[], pattern: RegExp): IteratorObject<Match> {
  const ends: number[] = []
  let length = 0
  for (const piece of pieces) {
    length += piece.length
    ends.push(length)
  }
  /** The piece that has the code unit at an index of the whole. */
  const placeOf = (index: number): Place => {
    const piece = ends.findIndex((end) => index < end)
    return { piece, at: index - (ends[piece - 1] ?? 0) }
  }
  // One by one, as few may be wanted of very many.
  return pieces
    .join('')
    .matchAll(pattern)
    .map(({ 0: text, index }) => {
      const last = placeOf(index + text.length - 1)
      return { start: placeOf(index), end: { ...last, at: last.at + 1 } }
    })
}
