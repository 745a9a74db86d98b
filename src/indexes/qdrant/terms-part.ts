import { type LengthNorm, lengthNorm } from '../bm25.ts'
import type { ChunkMetadata, Feedback, IndexMatch, IndexQuery } from '../chunk-index.ts'
import { expandQuery, sharedTerms, weightsIn } from '../expand-query.ts'
import type { QueryTerms, TermBatch } from '../term-batch.ts'
import { batched } from './batched.ts'
import { bestOf } from './best-of.ts'
import { TERMS } from './collection-layout.ts'
import { createPayloads, type PayloadOf } from './payload.ts'
import type { PayloadIndexes } from './payload-indexes.ts'
import type { Point, PointQuery, Points } from './points.ts'
import { toSparse, weighTerms } from './weigh-terms.ts'

const BATCH_CHUNKS = 500
/** Terms whose rarity is asked for, at most: those that weigh most in the chunks of the feedback. */
const MOST_CANDIDATES = 256
/** A query with feedback orders the best by its own terms anew: so many at least, and so many times what is wanted. */
const LEAST_REORDERED = 1_000
const REORDERED_PER_WANTED = 4

/** The words of chunks, each chunk a sparse vector of BM25 weights. */
export interface TermsPart {
  add(keys: Uint32Array, terms: TermBatch, metadata?: ChunkMetadata): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  /** Whether `search` may filter by these keys of the payload. */
  filters(keys: readonly string[], signal?: AbortSignal): Promise<boolean>
  keys(): Promise<Uint32Array<ArrayBuffer>>
  count(): Promise<number>
  search(query: IndexQuery, signal?: AbortSignal): Promise<IndexMatch[]>
}

export function createTermsPart(
  points: Points,
  indexes: Pick<PayloadIndexes, 'makeFor' | 'hold' | 'passOn'>,
  averageLength: number,
): TermsPart {
  const norm = lengthNorm(1, averageLength)

  const expand = async (query: IndexQuery, feedback: Feedback, signal?: AbortSignal) => {
    const rarities = await askRarities(points, feedback, norm, signal)
    return expandQuery(query.terms, feedback, { norm, rarity: (term) => rarities.get(term) ?? 0 })
  }

  return {
    remove: points.remove,
    filters: indexes.hold,
    keys: points.keys,
    count: points.count,
    async add(keys, terms, metadata) {
      await indexes.makeFor(metadata)
      const payloadOf = createPayloads(metadata)
      await points.put(batched(pointsOf(keys, terms, norm, payloadOf), BATCH_CHUNKS))
    },

    async search(query, signal) {
      if (query.terms.terms.length === 0) return []
      const { feedback } = query
      const expanded = feedback && (await expand(query, feedback, signal))
      const best = bestOf(query, (filter, limit) =>
        points.query(toQuery(query.terms, expanded, filter, limit), signal),
      )
      return indexes.passOn(query, best)
    },
  }
}

/** What feedback added finds no chunk: it only orders anew what the query's own terms have found. */
function toQuery(
  terms: QueryTerms,
  expanded: QueryTerms | undefined,
  filter: object | undefined,
  limit: number,
): PointQuery {
  const own = { query: toSparse(terms), using: TERMS, ...(filter && { filter }) }
  if (!expanded) return { ...own, limit }
  const reordered = Math.max(LEAST_REORDERED, limit * REORDERED_PER_WANTED)
  return { prefetch: { ...own, limit: reordered }, query: toSparse(expanded), using: TERMS, limit }
}

function* pointsOf(
  keys: Uint32Array,
  terms: TermBatch,
  norm: LengthNorm,
  payloadOf: PayloadOf,
): Generator<Point> {
  // Of a key given twice the last chunk counts.
  const last = new Map(Array.from(keys, (key, chunk) => [key, chunk]))
  for (const [id, chunk] of last) {
    const vector = { [TERMS]: weighTerms(terms, chunk, norm) }
    yield { id, vector, payload: payloadOf(chunk) }
  }
}

interface Probe {
  term: number
  key: number
  weight: number
}

/**
 * How rare terms are, which Qdrant tells nobody but uses: a query for one term in one chunk scores the
 * term's weight there, which is ours, times its rarity.
 */
async function askRarities(
  points: Points,
  feedback: Feedback,
  norm: LengthNorm,
  signal: AbortSignal | undefined,
): Promise<Map<number, number>> {
  const probes = probesOf(feedback, norm)
  const queries = probes.map(({ term, key }) => ({
    query: { indices: [term], values: [1] },
    using: TERMS,
    filter: { must: [{ has_id: [key] }] },
    limit: 1,
  }))
  const answers = await points.queryAll(queries, signal)
  return new Map(
    probes.map(({ term, weight }, i) => [term, (answers[i]?.[0]?.score ?? 0) / weight]),
  )
}

/** One for each term that feedback may add, in the chunk where it weighs most. */
function probesOf(feedback: Feedback, norm: LengthNorm): Probe[] {
  const shared = sharedTerms(feedback.terms)
  const probes = new Map<number, Probe>()
  for (const { term, weight, chunk } of weightsIn(feedback, norm)) {
    if (!shared.has(term) || weight <= (probes.get(term)?.weight ?? 0)) continue
    probes.set(term, { term, weight, key: feedback.keys[chunk] ?? 0 })
  }
  return [...probes.values()].sort((a, b) => b.weight - a.weight).slice(0, MOST_CANDIDATES)
}
