import type { ChunkIndex, IndexQuery } from '../../indexes/chunk-index.ts'
import type { QueryTerms } from '../../indexes/term-batch.ts'
import type { Hit, QueryRequest } from '../../schemas/query.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { type Candidate, lexicalOnly } from './fuse.ts'
import { rankByMeaning, type SearchByMeaning } from './rank-by-meaning.ts'

/** Asked for beyond top-k, for matches that turn out to be deleted, not yet committed, or duplicates. */
const SPARE_MATCHES = 16
/** Candidates of each stage that are fused, at least: a chunk that is good for one may be best for both. */
const LEAST_FUSED = 100
/** How much deeper each further look goes, and where looking ends. */
const DEEPER = 4
const MAXIMUM_MATCHES = 4_000
/** UTF-16 code units of a query that are analysed; a question is shorter, a pasted file need not be read whole. */
const MAXIMUM_QUERY = 10_000

type Vector = Float32Array<ArrayBuffer>

interface Dependencies {
  index: Pick<ChunkIndex, 'search'>
  store: Pick<DocumentStore, 'readChunks' | 'matchingKeys'>
  analyseQuery: (text: string) => QueryTerms
  /** Absent where search goes by words alone. */
  meaning?: SearchByMeaning | undefined
}

export interface Search extends Pick<QueryRequest, 'query' | 'topK' | 'filter'> {
  /** Tells the score of each stage with each hit. */
  explain?: boolean | undefined
}

export interface Found {
  /** Best first; each passage once, however many documents hold it. */
  hits: Hit[]
  /** True where the search should have gone by meaning, too, but the embedder did not answer. */
  degraded: boolean
}

export interface Retrieval {
  /** The best chunks for a question. */
  search(query: Search, signal?: AbortSignal): Promise<Found>
}

export function createRetrieval(dependencies: Dependencies): Retrieval {
  const { index, store, analyseQuery, meaning } = dependencies

  const look = async (query: IndexQuery, vector: Vector | undefined, signal?: AbortSignal) => {
    const lexical = await index.search(query, signal)
    const noMoreWords = lexical.length < query.limit
    if (!vector || !meaning) return { candidates: lexicalOnly(lexical), exhausted: noMoreWords }
    const question = { vector, limit: query.limit, only: query.only }
    const { candidates, exhausted } = await rankByMeaning(meaning, lexical, question, signal)
    return { candidates, exhausted: noMoreWords && exhausted }
  }

  return {
    async search({ query, topK, filter, explain = false }, signal) {
      const only = filter && (await store.matchingKeys(filter, signal))
      if (only?.length === 0) return { hits: [], degraded: false }
      const text = query.slice(0, MAXIMUM_QUERY)
      const terms = analyseQuery(text)
      const vector = await meaning?.embed(text, signal)
      const degraded = meaning !== undefined && vector === undefined
      let limit = Math.max(topK + SPARE_MATCHES, vector ? LEAST_FUSED : 0)
      for (;;) {
        const { candidates, exhausted } = await look({ terms, limit, only }, vector, signal)
        const hits = await hydrate(store, candidates, { topK, explain })
        if (hits.length === topK || exhausted || limit >= MAXIMUM_MATCHES) return { hits, degraded }
        limit = Math.min(limit * DEEPER, MAXIMUM_MATCHES)
      }
    },
  }
}

async function hydrate(
  store: Pick<DocumentStore, 'readChunks'>,
  candidates: readonly Candidate[],
  { topK, explain }: { topK: number; explain: boolean },
): Promise<Hit[]> {
  const hits: Hit[] = []
  const seen = new Set<string>()
  // Most answers need no more than the first top-k; where they do, each further read is twice as long.
  let from = 0
  for (let size = topK; from < candidates.length && hits.length < topK; size *= 2) {
    const part = new Map(candidates.slice(from, from + size).map((each) => [each.key, each]))
    from += size
    for (const chunk of await store.readChunks([...part.keys()])) {
      const candidate = part.get(chunk.key)
      if (!candidate || seen.has(chunk.text) || hits.length === topK) continue
      seen.add(chunk.text)
      hits.push(toHit(chunk, candidate, explain))
    }
  }
  return hits
}

function toHit(chunk: StoredChunk, { score, lexical, dense }: Candidate, explain: boolean): Hit {
  const stages = {
    ...(lexical !== undefined && { lexical }),
    ...(dense !== undefined && { dense }),
  }
  return {
    id: chunk.id,
    score,
    text: chunk.text,
    title: chunk.title ?? '',
    documentId: chunk.documentId,
    ...(chunk.url !== undefined && { url: chunk.url }),
    ...(chunk.metadata && { metadata: chunk.metadata }),
    ...(chunk.heading !== '' && { heading: chunk.heading }),
    start: chunk.start,
    end: chunk.end,
    ...(explain && { stages }),
  }
}
