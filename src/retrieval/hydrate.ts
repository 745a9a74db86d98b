import { shownMetadata } from '@agent-server/lib/labels.ts'
import { isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { Candidate } from '@agent-server/search'
import type { DocumentStore } from '@agent-server/stores'
import { createDistinctTexts } from './near-duplicates.ts'
import { type ShownChunk, withShownText } from './shown-chunk.ts'

/** A match together with its chunk from the document store. */
export interface MatchedChunk extends Candidate {
  chunk: ShownChunk
  /** The reranking model's score; absent if there is no reranking model. */
  rerank?: number
}

/**
 * Loads the first `wanted` candidates that are visible and that are not near duplicates. `missing` are
 * the keys that the document store did not hold: their chunks were replaced since the search, or are not committed yet.
 */
export async function hydrateChunks(
  store: Pick<DocumentStore, 'readChunks'>,
  visibility: Visibility,
  candidates: readonly Candidate[],
  limit: number,
) {
  const matches: MatchedChunk[] = []
  const distinct = createDistinctTexts()
  // The first read is usually enough; each further read doubles in size.
  let from = 0
  const missing: number[] = []
  for (let size = limit; from < candidates.length && matches.length < limit; size *= 2) {
    const part = new Map(candidates.slice(from, from + size).map((each) => [each.key, each]))
    from += size
    const batch = await store.readChunks(visibility, [...part.keys()])
    for (const chunk of batch.chunks.map(withShownText)) {
      const candidate = part.get(chunk.key)
      // A picture without a description has no text to show yet.
      if (!candidate || isPictureMark(chunk.text)) continue
      if (matches.length === limit || !distinct.add(chunk.text)) continue
      matches.push({ ...candidate, chunk })
    }
    missing.push(...batch.missing)
  }
  return { matches, missing }
}

export function toHit(
  { chunk, lexical, dense, rerank }: MatchedChunk,
  score: number,
  explain: boolean,
): Hit {
  const metadata = shownMetadata(chunk)
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
