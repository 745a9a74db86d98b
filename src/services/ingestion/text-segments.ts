/** As much of a long text as is split, embedded and kept at a time, in UTF-16 code units. */
const SEGMENT_CHARACTERS = 131_072
/** A segment rather ends this much earlier than within a paragraph or a line. */
const SLACK_SHARE = 1 / 16

/** A text in pieces of at most `most`, each ending at a paragraph, a line or a word where there is one near. */
export function* segmentsOf(
  pieces: Iterable<string>,
  most = SEGMENT_CHARACTERS,
): Generator<string> {
  let rest = ''
  for (const piece of pieces) {
    rest += piece
    while (rest.length > most) {
      const end = endOfSegment(rest, most)
      yield rest.slice(0, end)
      rest = withoutParent(rest.slice(end), most)
    }
  }
  if (rest !== '') yield rest
}

/** What is left of a segment, as a string of its own: a slice would keep all of what it was cut from. */
function withoutParent(slice: string, most: number): string {
  return slice.length < most ? Buffer.from(slice, 'utf16le').toString('utf16le') : slice
}

function endOfSegment(text: string, most: number): number {
  const least = most - Math.floor(most * SLACK_SHARE)
  for (const mark of ['\n\n', '\n', ' ']) {
    const found = text.lastIndexOf(mark, most - mark.length)
    if (found >= least) return found + mark.length
  }
  return isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
