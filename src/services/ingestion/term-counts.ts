import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TermBatch } from '../../indexes/term-batch.ts'
import { lowerBound } from '../../lib/lower-bound.ts'
import type { CountedTerms, TermCounts } from '../../stores/term-counts.ts'

/** The most terms of one sum, which take 32 MB. Beyond that the rarest are dropped and count as in no chunk. */
const MAX_TERMS = 4_194_304
/** Adding more terms than this yields to the event loop afterwards. */
const MANY_TERMS = 65_536

/** In how many of the chunks each term occurs. */
export function countTerms({ size, lengths, terms: all }: TermBatch): TermCounts {
  const sorted = all.toSorted()
  const terms = new Uint32Array(sorted.length)
  const holding = new Int32Array(sorted.length)
  let last = -1
  sorted.forEach((term, i) => {
    if (i === 0 || term !== terms[last]) terms[++last] = term
    holding[last] = (holding[last] ?? 0) + 1
  })
  const length = lengths.reduce((total, each) => total + each, 0)
  return {
    chunks: size,
    length,
    terms: terms.slice(0, last + 1),
    holding: holding.slice(0, last + 1),
  }
}

/** Adds up the counts of a document's segments; counts nothing if there is no analyser. */
export function createTermCounter(analyser: string | undefined) {
  let counted: CountedTerms | undefined
  return {
    add(terms: TermBatch): void {
      if (analyser === undefined) return
      const counts = countTerms(terms)
      counted = { ...(counted ? add(counted, counts) : counts), analyser }
    },
    total: () => counted,
  }
}

const NOTHING: TermCounts = {
  ...{ chunks: 0, length: 0 },
  ...{ terms: new Uint32Array(), holding: new Int32Array() },
}

/** Adds the smallest first, so that a large one is read once. */
export async function sumOf(all: readonly TermCounts[]): Promise<TermCounts> {
  let waiting = all.toSorted(bySize)
  while (waiting.length > 1) {
    const pairs = waiting.flatMap((one, i) => (i % 2 ? [] : [[one, waiting[i + 1]] as const]))
    waiting = []
    for (const [one, other] of pairs) {
      waiting.push(other ? add(one, other) : one)
      if (one.terms.length > MANY_TERMS) await nextTurn()
    }
  }
  return waiting[0] ?? NOTHING
}

function add(one: TermCounts, other: TermCounts): TermCounts {
  const most = one.terms.length + other.terms.length
  const [terms, holding] = [new Uint32Array(most), new Int32Array(most)]
  let size = 0
  for (let i = 0, j = 0; i < one.terms.length || j < other.terms.length; ) {
    const a = one.terms[i] ?? Number.POSITIVE_INFINITY
    const b = other.terms[j] ?? Number.POSITIVE_INFINITY
    const count = (a <= b ? (one.holding[i++] ?? 0) : 0) + (b <= a ? (other.holding[j++] ?? 0) : 0)
    if (count === 0) continue
    terms[size] = Math.min(a, b)
    holding[size++] = count
  }
  return {
    chunks: one.chunks + other.chunks,
    length: one.length + other.length,
    ...{ terms: terms.slice(0, size), holding: holding.slice(0, size) },
  }
}

/** Drops the terms that occur in the fewest chunks if there are too many terms. */
export function bounded(counts: TermCounts): TermCounts {
  let { terms, holding } = counts
  for (let fewest = 1; terms.length > MAX_TERMS; fewest++) {
    const kept = holding.map((count) => Number(Math.abs(count) > fewest))
    terms = terms.filter((_, i) => kept[i])
    holding = holding.filter((_, i) => kept[i])
  }
  return { ...counts, terms, holding }
}

/** May be negative, if more chunks with the term were removed than added. */
export function holdingIn({ terms, holding }: TermCounts, term: number): number {
  const position = lowerBound(terms, term, 0, terms.length)
  return terms[position] === term ? (holding[position] ?? 0) : 0
}

export function bySize(a: TermCounts, b: TermCounts): number {
  return a.terms.length - b.terms.length
}
