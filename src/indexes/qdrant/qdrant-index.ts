import type { ChunkIndex } from '../chunk-index.ts'
import type { CollectionSettings } from '../qdrant-settings.ts'
import type { CorpusStatistics } from '../term-batch.ts'
import {
  type Collections,
  createCollections,
  identityOf,
  type SlowLog,
  setWriteConsistency,
} from './collections.ts'
import {
  checkVersion,
  connectToQdrant,
  type QdrantAddress,
  type QdrantConnection,
  unavailable,
} from './connection.ts'
import { rangeKeysIn } from './payload.ts'
import { createPayloadIndexes } from './payload-indexes.ts'
import { createChangeOrder, createPoints } from './points.ts'
import {
  createNextCollections,
  createServedCollections,
  type ServedCollections,
} from './served-collections.ts'
import { createTermsPart } from './terms.ts'
import { createVectorsPart } from './vectors.ts'

export interface QdrantIndexOptions {
  address: QdrantAddress
  /** Prefix of the collection names. */
  prefix: string
  settings: CollectionSettings
  /** `Analyser.fingerprint`: a collection made with another one is refused. */
  fingerprint: string
  /** Changes when all vectors are recomputed: a collection with another one is refused. */
  vectorFingerprint: string
  /** The mean chunk length, in terms; called when the collection is created. */
  averageLength: (signal?: AbortSignal) => Promise<number>
  /** Corpus statistics for term weights. */
  statistics: CorpusStatistics
  /** Where slow operations are logged. */
  log?: SlowLog
}

/** An index in a Qdrant that any number of servers can share. No request is sent before `open`. */
export function createQdrantIndex(options: QdrantIndexOptions): QdrantIndex {
  const connection = connectToQdrant(options.address)
  const collections = createCollections(connection, options.log)
  const served = createServedCollections({ ...options, collections })
  return indexOn(connection, collections, served, options)
}

/**
 * Creates an index next to the one in use, or continues with that of an interrupted run. `serve` atomically puts it
 * into use; `drop` then removes the former one.
 */
export async function createNextIndex(options: QdrantIndexOptions, signal?: AbortSignal) {
  const connection = connectToQdrant(options.address)
  const collections = createCollections(connection, options.log)
  const next = await createNextCollections({ ...options, collections }, signal)
  const { serve, drop } = next
  return { index: indexOn(connection, collections, next, options), serve, drop }
}

export interface QdrantIndex extends ChunkIndex {
  /**
   * Finds or creates its collections; returns whether it created that of the terms. Throws an Error that says what to
   * do if an existing collection does not fit, and AppError `index_unavailable`.
   */
  open(signal?: AbortSignal): Promise<boolean>
  /** Which of the collections has disappeared, or `replaced` if they were recreated by someone else. */
  lost(signal?: AbortSignal): Promise<'words' | 'vectors' | 'replaced' | undefined>
}

/** An index on the given collections. */
function indexOn(
  connection: QdrantConnection,
  collections: Collections,
  served: ServedCollections,
  options: QdrantIndexOptions,
): QdrantIndex {
  const order = createChangeOrder()
  let parts: Awaited<ReturnType<typeof openParts>> | undefined
  let closed = false

  const opened = () => {
    if (closed) throw new Error('The index is closed')
    if (!parts) throw unavailable('The search index has not been reached yet')
    return parts
  }

  const lost: QdrantIndex['lost'] = (signal) => findLost(collections, served, opened(), signal)

  return {
    lost,
    async open(signal) {
      await checkVersion(connection, signal)
      parts = await openParts(connection, collections, served, options, signal)
      return parts.about.isNew
    },

    async add(keys, batch, metadata) {
      const { terms } = opened()
      await order.run(keys, () => terms.add(keys, batch, metadata))
    },
    async addVectors(batch, metadata) {
      const { vectors } = opened()
      if (batch.keys.length > 0) await order.run(batch.keys, () => vectors.add(batch, metadata))
    },
    async remove(keys) {
      const { terms, vectors } = opened()
      await order.run(keys, async () => {
        await Promise.all([terms.remove(keys), vectors.remove(keys)])
      })
    },

    keepsMetadata: true,
    async filters(filter, signal) {
      signal?.throwIfAborted()
      const { terms, vectors } = opened()
      const keys = rangeKeysIn(filter)
      // Equality needs no check: its payload index is created with the collection.
      if (!keys || keys.length === 0) return keys !== undefined
      return (await terms.filters(keys, signal)) && (await vectors.filters(keys, signal))
    },

    async search(query, signal) {
      signal?.throwIfAborted()
      return opened().terms.search(query, signal)
    },
    async nearest(query, signal) {
      signal?.throwIfAborted()
      return opened().vectors.nearest(query, signal)
    },

    keys: async () => opened().terms.keys(),
    vectorKeys: async () => opened().vectors.keys(),
    async check(signal) {
      const part = await lost(signal)
      if (!part || part === 'replaced') return
      throw unavailable(`The search index has lost its ${part}: they are about to be added anew`)
    },

    async close() {
      closed = true
    },
  }
}

async function findLost(
  collections: Collections,
  { termsName, vectorsName }: ServedCollections,
  { about, vectors }: Awaited<ReturnType<typeof openParts>>,
  signal?: AbortSignal,
) {
  const held = vectors.held()
  const terms = await identityOf(collections, termsName, signal)
  const dense = held && (await identityOf(collections, vectorsName, signal))
  if (terms === undefined) return 'words'
  if (held && dense === undefined) return 'vectors'
  return terms === about.made && dense === held?.made ? undefined : 'replaced'
}

/**
 * Terms and vectors are separate collections: each can be rebuilt, sharded and placed in memory independently, and
 * writing one need not read the other. Throws an Error that says what to do if a collection does not fit.
 */
async function openParts(
  connection: QdrantConnection,
  collections: Collections,
  served: ServedCollections,
  { statistics, settings }: QdrantIndexOptions,
  signal?: AbortSignal,
) {
  const { quantisation, filtersMemory, writeConsistency } = settings
  const pointsOf = (name: string) => createPoints(connection, name)
  const indexesOf = (name: string) => createPayloadIndexes(collections, name, filtersMemory)
  const { termsName, vectorsName } = served
  const about = await served.terms(signal)
  const terms = createTermsPart(pointsOf(termsName), indexesOf(termsName), about, statistics)
  const vectors = createVectorsPart(
    pointsOf(vectorsName),
    indexesOf(vectorsName),
    served,
    quantisation,
  )
  const hasVectors = (await vectors.open(signal)) !== undefined
  for (const alias of hasVectors ? [termsName, vectorsName] : [termsName]) {
    const name = (await collections.behind(alias, signal)) ?? alias
    await setWriteConsistency(connection, name, writeConsistency, signal)
  }
  return { about, terms, vectors }
}
