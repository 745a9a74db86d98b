/** Where Qdrant keeps what it also has on the disk: read when needed, read ahead into the page cache, or held in memory. */
export const MEMORY_PLACEMENTS = ['cold', 'cached', 'pinned'] as const
export type MemoryPlacement = (typeof MEMORY_PLACEMENTS)[number]

/** How vectors are made smaller for searching: not at all, to 8 bits or to 4 bits a number. */
export const QUANTISATIONS = ['none', 'int8', 'turbo4'] as const
export type Quantisation = (typeof QUANTISATIONS)[number]

/** What is laid down when a collection is made; a change takes a rebuild. */
export interface CollectionSettings {
  shards: number
  /** Copies of each shard. */
  replicas: number
  /** Copies that have a change before it counts as done. */
  writeConsistency: number
  quantisation: Quantisation
  /** Of the vectors as they were given; searching reads the small ones, which stay in memory. */
  vectorsMemory: MemoryPlacement
  /** Of the postings of words. */
  termsMemory: MemoryPlacement
  /** Of what filters look up. */
  filtersMemory: MemoryPlacement
}
