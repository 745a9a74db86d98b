import { createRequire } from 'node:module'
import type { default as CreateBidi, EmbeddingLevels } from 'bidi-js'

// The package is a function, but its types say that it has one.
const createBidi: typeof CreateBidi.default = createRequire(import.meta.url)('bidi-js')
const bidi = createBidi()
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

const OF_THE_SCRIPT = /([\p{Script=Arabic}\p{Script=Hebrew}]+)/u
const PICTURE = /[\u{1f000}-\u{1faff}]/gu
/** Of the same length. */
const NEUTRAL = '\u2603\u2603'

/**
 * A line as it is drawn from left to right, in pieces of one direction. Letters of a piece that goes from right
 * to left stay in the order of reading: whoever shapes them turns them round.
 */
export function visualRuns(line: string): string[] {
  if (!RIGHT_TO_LEFT.test(line)) return [line]
  // Halves of a sign would pass for letters.
  const resolved = bidi.getEmbeddingLevels(line.replaceAll(PICTURE, NEUTRAL))
  const isBackward = (index: number) => isOdd(resolved, index)
  const mirrored = bidi.getMirroredCharactersMap(line, resolved.levels)
  const charactersOf = (places: readonly number[]) =>
    places.map((place) => mirrored.get(place) ?? line[place] ?? '').join('')

  return runsOf(bidi.getReorderedIndices(line, resolved), isBackward).flatMap((places) => {
    const [first = 0] = places
    if (!isBackward(first)) return forwardPieces(charactersOf(places))
    const reading = charactersOf(places.toReversed())
    // Spaces and brackets by themselves are shaped from left to right.
    return RIGHT_TO_LEFT.test(reading) ? reading : reversed(reading)
  })
}

/** Digits of a script from right to left go from left to right, but are shaped like its letters. */
function forwardPieces(text: string): string[] {
  return text
    .split(OF_THE_SCRIPT)
    .filter((piece) => piece !== '')
    .map((piece) => (RIGHT_TO_LEFT.test(piece) ? reversed(piece) : piece))
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('')
}

/** Places in the order in which they are drawn, cut where it jumps or turns. */
function runsOf(order: readonly number[], isBackward: (index: number) => boolean): number[][] {
  const runs: number[][] = []
  for (const place of order) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const step = isBackward(place) ? -1 : 1
    const goesOn =
      last !== undefined && place === last + step && isBackward(last) === isBackward(place)
    if (goesOn) run?.push(place)
    else runs.push([place])
  }
  return runs
}

function isOdd({ levels }: EmbeddingLevels, index: number): boolean {
  return (levels[index] ?? 0) % 2 === 1
}
