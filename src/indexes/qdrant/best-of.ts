import type { IndexMatch, IndexQuery } from '../chunk-index.ts'
import { type PayloadCondition, toPayloadFilter } from './payload-filter.ts'

/** Asked for beyond the limit: of equal scores Qdrant keeps any, we the lowest keys. */
const SPARE = 16
/** Keys that one query names at most; more are asked about in parts. */
const MOST_NAMED = 200_000

/**
 * The best of one search. Where it is to look among more keys than one query can name, it asks in parts:
 * scores of one collection can be compared.
 */
export async function bestOf(
  { only, filter, limit }: Pick<IndexQuery, 'only' | 'filter' | 'limit'>,
  ask: (filter: PayloadCondition | undefined, limit: number) => Promise<IndexMatch[]>,
): Promise<IndexMatch[]> {
  if (only?.length === 0) return []
  const parts = filter ? [toPayloadFilter(filter)] : filtersFor(only)
  const found: IndexMatch[] = []
  for (const part of parts) found.push(...(await ask(part, limit + SPARE)))
  return found.sort((a, b) => b.score - a.score || a.key - b.key).slice(0, limit)
}

function filtersFor(only: Uint32Array | undefined): (PayloadCondition | undefined)[] {
  if (!only) return [undefined]
  const parts = Math.ceil(only.length / MOST_NAMED)
  return Array.from({ length: parts }, (_, part) => {
    const keys = only.subarray(part * MOST_NAMED, (part + 1) * MOST_NAMED)
    return { must: [{ has_id: Array.from(keys) }] }
  })
}
