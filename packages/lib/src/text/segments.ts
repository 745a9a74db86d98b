import { atCodePoint } from '../markdown/characters.ts'

/** A text of up to this many UTF-16 code units is a single segment. */
export const MAX_WHOLE_CHARACTERS = 524_288
/** A longer text is split and held in segments of this size. */
const SEGMENT_CHARACTERS = 131_072
/** A segment may end earlier by this share, to avoid cutting through a paragraph, line or word. */
const SLACK_SHARE = 1 / 16

/** Cuts a text into pieces of at most `maxLength`, each ending at a nearby paragraph, line or word if possible. */
export function* segmentsOf(text: string, maxLength = SEGMENT_CHARACTERS): Generator<string> {
  let start = 0
  while (text.length - start > maxLength) {
    const end = endOfSegment(text, start, maxLength)
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}

function endOfSegment(text: string, start: number, maxLength: number): number {
  const latest = start + maxLength
  const earliest = latest - Math.floor(maxLength * SLACK_SHARE)
  for (const end of ['\n\n', '\n', ' ']) {
    const position = text.lastIndexOf(end, latest - end.length)
    if (position >= earliest) return position + end.length
  }
  return atCodePoint(text, latest)
}
