import type { Passage } from './prepare.ts'

/** Tells each passage on which pages it stands, given where each page begins in the text. */
export function numberPages(
  passages: readonly Passage[],
  pageStarts: readonly number[] | undefined,
): Passage[] {
  if (!pageStarts) return [...passages]
  return passages.map((passage) => {
    const page = pageAt(pageStarts, passage.start)
    return {
      ...passage,
      page,
      pageEnd: pageAt(pageStarts, Math.max(passage.start, passage.end - 1)),
    }
  })
}

/** The last page that begins at or before the offset; an empty page begins where the next one does. */
function pageAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}
