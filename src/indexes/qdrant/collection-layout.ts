import { z } from 'zod'
import type { CollectionSettings } from '../qdrant-settings.ts'

/** Raise it when an older or newer server could not use what is kept. */
const LAYOUT = 2
export const TERMS = 'terms'
export const MEANING = 'meaning'

/** What a collection says about itself, so that no server mistakes it for another. */
export const TermsMark = z.object({
  layout: z.literal(LAYOUT),
  kind: z.literal(TERMS),
  /** `Analyser.fingerprint`. */
  analyser: z.string(),
  /** The mean length of a chunk, in terms, that every weight was reckoned with. */
  averageLength: z.number().positive(),
})
export type TermsMark = z.output<typeof TermsMark>

export const VectorsMark = z.object({
  layout: z.literal(LAYOUT),
  kind: z.literal(MEANING),
  /** Changes when all vectors are made anew. */
  fingerprint: z.string(),
  dimension: z.int().positive(),
})
export type VectorsMark = z.output<typeof VectorsMark>

export function termsMark(mark: Pick<TermsMark, 'analyser' | 'averageLength'>): TermsMark {
  return { layout: LAYOUT, kind: TERMS, ...mark }
}

export function vectorsMark(mark: Pick<VectorsMark, 'fingerprint' | 'dimension'>): VectorsMark {
  return { layout: LAYOUT, kind: MEANING, ...mark }
}

/** The weights are ours; how rare a term is, Qdrant knows best, and multiplies by when it is asked. */
export function termsCollection(mark: TermsMark, settings: CollectionSettings) {
  return {
    ...spread(settings),
    vectors: {},
    sparse_vectors: { [TERMS]: { modifier: 'idf', index: { memory: settings.termsMemory } } },
    metadata: mark,
  }
}

export function vectorsCollection(mark: VectorsMark, settings: CollectionSettings) {
  const quantisation = QUANTISATION[settings.quantisation]
  return {
    ...spread(settings),
    vectors: {
      [MEANING]: { size: mark.dimension, distance: 'Cosine', memory: settings.vectorsMemory },
    },
    ...(quantisation && { quantization_config: quantisation }),
    metadata: mark,
  }
}

/** Searching reads nothing but these, so they stay in memory. */
const QUANTISATION = {
  none: undefined,
  int8: { scalar: { type: 'int8', quantile: 0.99, memory: 'pinned' } },
  turbo4: { turbo: { bits: 'bits4', memory: 'pinned' } },
} as const

function spread({ shards, replicas, writeConsistency }: CollectionSettings) {
  return {
    shard_number: shards,
    replication_factor: replicas,
    write_consistency_factor: writeConsistency,
  }
}
