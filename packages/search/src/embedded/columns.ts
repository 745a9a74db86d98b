import type { Candidate } from '../chunk-index.ts'

/** Candidates in columns, which cross threads without copying; a number that a candidate lacks is NaN. */
interface CandidateColumns {
  keys: Uint32Array<ArrayBuffer>
  score: Float64Array<ArrayBuffer>
  lexical: Float64Array<ArrayBuffer>
  dense: Float64Array<ArrayBuffer>
}

export function toColumns(candidates: readonly Candidate[]): CandidateColumns {
  const count = candidates.length
  const columns = {
    keys: new Uint32Array(count),
    score: new Float64Array(count),
    lexical: new Float64Array(count),
    dense: new Float64Array(count),
  }
  for (const [place, { key, score, lexical, dense }] of candidates.entries()) {
    columns.keys[place] = key
    columns.score[place] = score
    columns.lexical[place] = lexical ?? Number.NaN
    columns.dense[place] = dense ?? Number.NaN
  }
  return columns
}

export function buffersOf({ keys, score, lexical, dense }: CandidateColumns): ArrayBuffer[] {
  return [keys.buffer, score.buffer, lexical.buffer, dense.buffer]
}

export function toCandidates({ keys, score, lexical, dense }: CandidateColumns): Candidate[] {
  return Array.from(keys, (key, place) => {
    const candidate: Candidate = { key, score: score[place] ?? 0 }
    const [ofTerms = Number.NaN, ofVectors = Number.NaN] = [lexical[place], dense[place]]
    if (!Number.isNaN(ofTerms)) candidate.lexical = ofTerms
    if (!Number.isNaN(ofVectors)) candidate.dense = ofVectors
    return candidate
  })
}
