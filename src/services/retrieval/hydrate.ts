import type { Hit } from '../../schemas/query.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import type { Candidate } from './fuse.ts'
import { createDistinctTexts } from './near-duplicates.ts'

/** A candidate with what the authority knows of it. */
export interface FoundPassage extends Candidate {
  chunk: StoredChunk
}

interface ReadPassages {
  found: FoundPassage[]
  /** Whether the authority did not hold a candidate: it was put out since the search, or is not in yet. */
  isStale: boolean
}

/** The first `wanted` candidates that the authority holds and that say something new. */
export async function readPassages(
  store: Pick<DocumentStore, 'readChunks'>,
  candidates: readonly Candidate[],
  wanted: number,
): Promise<ReadPassages> {
  const found: FoundPassage[] = []
  const distinct = createDistinctTexts()
  // Most answers need no more than the first reading; where they do, each further read is twice as long.
  let from = 0
  let isStale = false
  for (let size = wanted; from < candidates.length && found.length < wanted; size *= 2) {
    const part = new Map(candidates.slice(from, from + size).map((each) => [each.key, each]))
    from += size
    const chunks = await store.readChunks([...part.keys()])
    isStale ||= chunks.length < part.size
    for (const chunk of chunks) {
      const candidate = part.get(chunk.key)
      if (!candidate || found.length === wanted || !distinct.take(chunk.text)) continue
      found.push({ ...candidate, chunk })
    }
  }
  return { found, isStale }
}

export function toHit(
  { chunk, score, lexical, dense, rerank }: FoundPassage,
  explain: boolean,
): Hit {
  const stages = {
    ...(lexical !== undefined && { lexical }),
    ...(dense !== undefined && { dense }),
    ...(rerank !== undefined && { rerank }),
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
    ...(chunk.page !== undefined && { page: chunk.page }),
    ...(chunk.pageEnd !== undefined && { pageEnd: chunk.pageEnd }),
    ...(explain && { stages }),
  }
}
