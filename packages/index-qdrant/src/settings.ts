/** How Qdrant holds data that is on disk: read on demand, preloaded into the page cache, or kept in memory. */
export const MEMORY_PLACEMENTS = ['cold', 'cached', 'pinned'] as const
export type MemoryPlacement = (typeof MEMORY_PLACEMENTS)[number]

/** How vectors are quantised for searching: not at all, to 8 bits or to 4 bits per number. */
export const QUANTISATIONS = ['none', 'int8', 'turbo4'] as const
export type Quantisation = (typeof QUANTISATIONS)[number]

/** Settings fixed when a collection is created; changing one requires a rebuild. */
export interface CollectionSettings {
  shards: number
  /** Copies of each shard. */
  replicas: number
  /** Number of copies that must have a change before it counts as done. */
  writeConsistency: number
  quantisation: Quantisation
  /** For the original vectors; searches read the quantised ones, which stay in memory. */
  vectorsMemory: MemoryPlacement
  /** For the postings of terms. */
  termsMemory: MemoryPlacement
  /** For the payload indexes that filters use. */
  filtersMemory: MemoryPlacement
}
