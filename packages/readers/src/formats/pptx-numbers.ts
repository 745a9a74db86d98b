import { orderedLabel } from '../numbering.ts'

/** Types of numbers by how their names begin: `alphaLcParenR` is `a)`. ECMA-376, part 1, 20.1.10.61. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^alphaLc/, 'a'],
  [/^alphaUc/, 'A'],
  [/^romanLc/, 'i'],
  [/^romanUc/, 'I'],
]

/** Numbers the paragraphs of a shape that are numbered automatically. */
export function createParagraphNumbers() {
  let counts: number[] = []
  let level = 0
  let automatic: { type: string; start: number } | undefined

  return {
    reset: () => (counts = []),
    setLevel(value: number): void {
      level = Math.min(Math.max(value, 0), 9)
    },
    set(type: string, start: number): void {
      automatic = { type, start }
    },
    /** The label of the paragraph that ends; '' if it has none. One without text is not counted. */
    take(hasText: boolean): string {
      const [own, at] = [automatic, level]
      automatic = undefined
      level = 0
      if (!hasText) return ''
      counts = counts.slice(0, own ? at + 1 : at)
      if (!own) return ''
      counts[at] = counts[at] === undefined ? own.start : counts[at] + 1
      return inSigns(counts[at], own.type)
    },
  }
}

function inSigns(count: number, type: string): string {
  const number = orderedLabel(count, TYPES.find(([begins]) => begins.test(type))?.[1] ?? '1')
  if (type.endsWith('ParenBoth')) return `(${number})`
  if (type.endsWith('ParenR')) return `${number})`
  return type.endsWith('Period') ? `${number}.` : number
}
