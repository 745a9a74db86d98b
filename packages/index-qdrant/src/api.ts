import type { Schemas } from '@qdrant/js-client-rest'
import type { MemoryPlacement } from './settings.ts'

/**
 * A type of Qdrant's API description without `Record<string, unknown>`, which its generator emits wherever null is
 * allowed and which would disable type checking there.
 */
type Strict<Type> = Type extends string | number | boolean | null | undefined
  ? Type
  : Type extends readonly (infer Item)[]
    ? Strict<Item>[]
    : string extends keyof Type
      ? never
      : { [Key in keyof Type]: Strict<Type[Key]> }

export type PayloadFilter = Strict<Schemas['Filter']>
export type PayloadCondition = Strict<Schemas['Condition']>
export type Range = Strict<Schemas['Range']>
export type SparseVector = Schemas['SparseVector']
export type AliasChange = Strict<Schemas['AliasOperations']>

export interface PointQuery
  extends Pick<Strict<Schemas['QueryRequest']>, 'filter' | 'params' | 'with_payload' | 'offset'> {
  query: number[] | SparseVector
  using: string
  limit: number
}

/** Supported by Qdrant 1.19 but missing from the types of its client 1.18. */
interface Placed {
  memory: MemoryPlacement
}

/** A payload key and how it is indexed. */
export interface PayloadIndex {
  field_name: string
  field_schema: (Schemas['KeywordIndexParams'] | Schemas['FloatIndexParams']) & Placed
}

export type Quantization =
  | { scalar: Schemas['ScalarQuantizationConfig'] & Placed }
  | { turbo: Strict<Schemas['TurboQuantQuantizationConfig']> & Placed }

type Spread = 'shard_number' | 'replication_factor' | 'write_consistency_factor'

export interface NewCollection extends Pick<Schemas['CreateCollection'], Spread> {
  vectors: Record<string, Strict<Schemas['VectorParams']> & Placed>
  sparse_vectors?: Record<string, { index: Placed; modifier: 'idf' }>
  hnsw_config?: { full_scan_threshold: number }
  quantization_config?: Quantization
  metadata: object
}
