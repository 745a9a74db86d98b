import { isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import type { Candidate } from '@agent-server/search'
import { takes } from '@agent-server/search'
import { type Filter, shownMetadata } from '../../schemas/metadata.ts'
import type { Hit } from '../../schemas/query.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { asShown, type ShownChunk } from '../shown-chunk.ts'
import { createDistinctTexts } from './near-duplicates.ts'

/** A match together with its chunk from the document store. */
export interface FoundChunk extends Candidate {
  chunk: ShownChunk
  /** The reranking model's score; absent if there is no reranking model. */
  rerank?: number
}

/**
 * Loads the first `wanted` candidates that the document store holds and that are not near duplicates. `missing` are
 * the keys it did not hold: their chunks were replaced since the search, or are not committed yet.
 */
export async function hydrateChunks(
  store: Pick<DocumentStore, 'readChunks'>,
  candidates: readonly Candidate[],
  wanted: number,
  filter: Filter,
) {
  const found: FoundChunk[] = []
  const distinct = createDistinctTexts()
  // The first read is usually enough; each further read doubles in size.
  let from = 0
  const missing: number[] = []
  for (let size = wanted; from < candidates.length && found.length < wanted; size *= 2) {
    const part = new Map(candidates.slice(from, from + size).map((each) => [each.key, each]))
    from += size
    for (const stored of await store.readChunks([...part.keys()])) {
      const candidate = part.get(stored.key)
      part.delete(stored.key)
      const chunk = asShown(stored)
      if (!isWanted(chunk, filter)) continue
      if (!candidate || found.length === wanted || !distinct.take(chunk.text)) continue
      found.push({ ...candidate, chunk })
    }
    missing.push(...part.keys())
  }
  return { found, missing }
}

/** A picture that is not described yet says nothing; an index may not have the latest change of metadata yet. */
const isWanted = ({ text, metadata }: ShownChunk, filter: Filter) =>
  !isPictureMark(text) && takes(filter, metadata)

export function toHit(
  { chunk, lexical, dense, rerank }: FoundChunk,
  score: number,
  explain: boolean,
): Hit {
  const { metadata } = shownMetadata(chunk.metadata)
  const stages = {
    ...(lexical !== undefined && { lexical }),
    ...(dense !== undefined && { dense }),
    ...(rerank !== undefined && { rerank }),
  }
  return {
    id: chunk.id,
    score,
    text: chunk.text,
    ...(chunk.pictureDescription && { pictureDescription: true as const }),
    title: chunk.title ?? '',
    documentId: chunk.documentId,
    ...(chunk.url !== undefined && { url: chunk.url }),
    ...(metadata && { metadata }),
    ...(chunk.heading !== '' && { heading: chunk.heading }),
    start: chunk.start,
    end: chunk.end,
    ...(chunk.page !== undefined && { page: chunk.page }),
    ...(chunk.pageEnd !== undefined && { pageEnd: chunk.pageEnd }),
    ...(explain && { stages }),
  }
}
