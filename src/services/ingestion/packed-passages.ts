import type { Passage } from './prepare.ts'

/** Passages without their texts, which both threads can cut from the source: buffers cross threads without copying. */
export interface PackedPassages {
  /** `start` and `end` of each passage in turn. */
  bounds: Uint32Array<ArrayBuffer>
  /** Which of `headings` stands above each passage. */
  headingOf: Uint32Array<ArrayBuffer>
  headings: readonly string[]
}

export function packPassages(passages: readonly Passage[]): PackedPassages {
  const headings = new Map<string, number>()
  const bounds = new Uint32Array(passages.length * 2)
  const headingOf = new Uint32Array(passages.length)
  for (const [index, { start, end, heading }] of passages.entries()) {
    const number = headings.get(heading) ?? headings.size
    headings.set(heading, number)
    bounds[index * 2] = start
    bounds[index * 2 + 1] = end
    headingOf[index] = number
  }
  return { bounds, headingOf, headings: [...headings.keys()] }
}

export function unpackPassages(text: string, packed: PackedPassages): Passage[] {
  const { bounds, headingOf, headings } = packed
  return Array.from(headingOf, (number, index) => {
    const start = bounds[index * 2] ?? 0
    const end = bounds[index * 2 + 1] ?? start
    return { text: text.slice(start, end), heading: headings[number] ?? '', start, end }
  })
}
