import type { Candidate } from '../chunk-index.ts'

const COLUMNS = ['score', 'terms', 'lexical', 'dense'] as const

/** Candidates in columns, which cross threads without copying; a number that a candidate lacks is NaN. */
export interface CandidateColumns
  extends Record<(typeof COLUMNS)[number], Float64Array<ArrayBuffer>> {
  keys: Uint32Array<ArrayBuffer>
}

export function toColumns(candidates: readonly Candidate[]): CandidateColumns {
  const column = (name: (typeof COLUMNS)[number]) =>
    Float64Array.from(candidates, (candidate) => candidate[name] ?? Number.NaN)
  return {
    keys: Uint32Array.from(candidates, ({ key }) => key),
    score: column('score'),
    terms: column('terms'),
    lexical: column('lexical'),
    dense: column('dense'),
  }
}

export function buffersOf(columns: CandidateColumns): ArrayBuffer[] {
  return [columns.keys.buffer, ...COLUMNS.map((name) => columns[name].buffer)]
}

export function toCandidates({ keys, ...columns }: CandidateColumns): Candidate[] {
  return Array.from(keys, (key, place) => {
    const candidate: Candidate = { key, score: 0 }
    for (const name of COLUMNS) {
      const value = columns[name][place] ?? Number.NaN
      if (!Number.isNaN(value)) candidate[name] = value
    }
    return candidate
  })
}
