/** A part of a text, in UTF-16 code units. */
export interface Range {
  start: number
  end: number
}

/** A part of one of several pieces of text. */
export interface PieceRange extends Range {
  piece: number
}

/** Fewer letters and digits are found anywhere. */
const MIN_LETTERS = 4
const LETTER = /[\p{L}\p{M}\p{N}]/gu
const SIGNS_AFTER = /^[^\s\p{L}\p{M}\p{N}]*/u

/**
 * Where texts stand in the pieces that a page is drawn in, in the order of the page. Only letters and digits are
 * compared: the pieces end anywhere, and the page has hyphens, spaces and ends of lines that the text does not have.
 * Texts that are not there are left out.
 */
export function findWords(pieces: readonly string[], texts: readonly string[]): PieceRange[] {
  const page = lettersOf(pieces)
  let after = 0
  const matches = texts.flatMap((text) => {
    const { letters } = lettersOf([text])
    if (letters.length < MIN_LETTERS) return []
    // In the order of the page, since short texts may occur more than once.
    const next = page.letters.indexOf(letters, after)
    const index = next === -1 ? page.letters.indexOf(letters) : next
    if (index === -1) return []
    after = index + letters.length
    return rangesOf(page.places.slice(index, after), pieces)
  })
  return joined(matches.toSorted((a, b) => a.piece - b.piece || a.start - b.start))
}

/** Ranges in order without overlaps. */
function joined(ranges: readonly PieceRange[]): PieceRange[] {
  const apart: PieceRange[] = []
  for (const range of ranges) {
    const last = apart.at(-1)
    if (last?.piece === range.piece && range.start < last.end) {
      last.end = Math.max(last.end, range.end)
    } else apart.push({ ...range })
  }
  return apart
}

interface Place {
  piece: number
  at: number
}

/** The letters and digits of all pieces, and where each code unit of them is. */
function lettersOf(pieces: readonly string[]): { letters: string; places: Place[] } {
  const places: Place[] = []
  let letters = ''
  for (const [piece, text] of pieces.entries()) {
    for (const { 0: letter, index } of text.matchAll(LETTER)) {
      letters += letter
      for (let unit = 0; unit < letter.length; unit++) places.push({ piece, at: index + unit })
    }
  }
  return { letters, places }
}

/** One range for each piece, with the punctuation that follows. */
function rangesOf(places: readonly Place[], pieces: readonly string[]): PieceRange[] {
  const ranges: PieceRange[] = []
  for (const { piece, at } of places) {
    const last = ranges.at(-1)
    if (last?.piece === piece) last.end = at + 1
    else ranges.push({ piece, start: at, end: at + 1 })
  }
  return ranges.map(({ piece, start, end }) => {
    const signs = SIGNS_AFTER.exec(pieces[piece]?.slice(end) ?? '')?.[0] ?? ''
    return { piece, start, end: end + signs.length }
  })
}
