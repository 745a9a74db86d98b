import {
  group,
  httpUrls,
  type Labels,
  number,
  oneOf,
  upstreamKey,
} from '@agent-server/lib/variable-types.ts'
import { z } from 'zod'
import { MEMORY_PLACEMENTS, QUANTISATIONS } from './settings.ts'

const qdrant = group('Qdrant')

export const variables = {
  QDRANT_URL: qdrant(
    httpUrls.optional(),
    'Qdrant for the search index, or several nodes of one cluster, separated by commas. Not set: the index is in DATA_DIR. See docs/guides/scaling.md.',
    { isCommon: true },
  ),
  QDRANT_API_KEY: qdrant(upstreamKey(), 'API key for Qdrant.'),
  QDRANT_COLLECTION: qdrant(
    z
      .string()
      .regex(/^[\w-]{1,64}$/, 'must be at most 64 letters, digits, _ or -')
      .default('agent-server'),
    "Prefix of this server's collections.",
  ),
  QDRANT_TIMEOUT: qdrant(number(1, 300).prefault('10'), 'Seconds that a search waits for Qdrant.'),
  QDRANT_SHARDS: qdrant(
    number(1, 1_000).prefault('1'),
    'Shards of a new collection. To change this and the following in an existing one, run `npm run rebuild-index`.',
  ),
  QDRANT_REPLICAS: qdrant(
    number(1, 16).prefault('1'),
    'Replicas of each shard of a new collection.',
  ),
  QDRANT_WRITE_CONSISTENCY: qdrant(
    number(1, 16).prefault('1'),
    'Replicas that must confirm a write; with as many as QDRANT_REPLICAS, nothing is ingested while a node is down.',
  ),
  QDRANT_QUANTIZATION: qdrant(
    oneOf(QUANTISATIONS).default('int8'),
    'Quantization of the vectors of a new collection.',
  ),
  QDRANT_VECTORS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cold'),
    'Where a new collection keeps its original vectors: `cold` on disk, `cached` or `pinned` in memory.',
  ),
  QDRANT_TERMS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cached'),
    'Where a new collection keeps its terms; the same choices.',
  ),
  QDRANT_FILTERS_MEMORY: qdrant(
    oneOf(MEMORY_PLACEMENTS).default('cached'),
    'Where a new collection keeps its metadata indexes; the same choices.',
  ),
}

export const labels: Labels<typeof variables> = {
  QDRANT_URL: 'Qdrant URL',
  QDRANT_API_KEY: 'Qdrant key',
  QDRANT_COLLECTION: 'Prefix of collection names',
  QDRANT_TIMEOUT: ['Longest wait for Qdrant', 'seconds'],
  QDRANT_SHARDS: 'Shards',
  QDRANT_REPLICAS: 'Replicas',
  QDRANT_WRITE_CONSISTENCY: 'Replicas that confirm a write',
  QDRANT_QUANTIZATION: 'Quantization',
  QDRANT_VECTORS_MEMORY: 'Where vectors are kept',
  QDRANT_TERMS_MEMORY: 'Where terms are kept',
  QDRANT_FILTERS_MEMORY: 'Where metadata indexes are kept',
}
