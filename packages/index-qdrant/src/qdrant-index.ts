import { createOrder } from '@agent-server/lib/in-order.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex, ChunkLabels, IndexSource } from '@agent-server/search'
import { createSearch, rankHybrid, type Stages } from '@agent-server/search'
import {
  type Collections,
  createCollections,
  identityOf,
  setWriteConsistency,
} from './collections.ts'
import {
  checkVersion,
  connectToQdrant,
  type QdrantAddress,
  type QdrantConnection,
  unavailable,
} from './connection.ts'
import { keysFor } from './payload.ts'
import { createPayloadIndexes } from './payload-indexes.ts'
import { createPoints } from './points.ts'
import {
  createNextCollections,
  createServedCollections,
  type ServedCollections,
} from './served-collections.ts'
import type { CollectionSettings } from './settings.ts'
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
  source: IndexSource
  /** Where slow operations are logged. */
  log?: Pick<Log, 'warn'>
}

/** An index in a Qdrant that any number of servers can share. No request is sent before `open`. */
export function createQdrantIndex(options: QdrantIndexOptions): ChunkIndex {
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

/** An index on the given collections. */
function indexOn(
  connection: QdrantConnection,
  collections: Collections,
  served: ServedCollections,
  options: QdrantIndexOptions,
): ChunkIndex {
  const inTerms = createOrder()
  const inVectors = createOrder()
  let parts: Parts | undefined
  let closed = false

  const opened = () => {
    if (closed) throw new Error('The index is closed')
    if (!parts) throw unavailable('The search index has not been reached yet')
    return parts
  }

  const { source } = options
  /** Chunks removed in the meantime have no labels, which does no harm. */
  const labelsOf = async (keys: readonly number[]): Promise<ChunkLabels> => {
    const { chunks } = await source.readChunks(everything(), keys)
    const byKey = new Map(chunks.map((chunk) => [chunk.key, chunk]))
    return keys.map((key) => byKey.get(key))
  }
  const lost: ChunkIndex['lost'] = (signal) => findLost(collections, served, opened(), signal)

  return {
    shared: true,
    lost,
    async open(signal) {
      await checkVersion(connection, signal)
      parts = await openParts(connection, collections, served, options, signal)
      return parts.about.isNew
    },

    async add(keys, batch, labels) {
      const { terms } = opened()
      await inTerms(() => terms.add(keys, batch, labels))
    },
    async addVectors(batch) {
      const { vectors } = opened()
      if (batch.keys.length === 0) return
      await inVectors(async () => vectors.add(batch, await labelsOf([...batch.keys])))
    },
    async refreshLabels(keys) {
      const { terms, vectors } = opened()
      await Promise.all([
        inTerms(async () => terms.setLabels(keys, await labelsOf(keys))),
        inVectors(async () => vectors.setLabels(keys, await labelsOf(keys))),
      ])
    },
    async remove(keys) {
      const { terms, vectors } = opened()
      await Promise.all([inTerms(() => terms.remove(keys)), inVectors(() => vectors.remove(keys))])
    },

    search: createSearch(stagesOf(opened, source)),

    keys: async () => opened().terms.keys(),
    vectorKeys: async () => opened().vectors.keys(),
    async check(signal) {
      const part = await lost(signal)
      if (!part || part === 'replaced') return
      const name = part === 'lexical' ? 'words' : part
      throw unavailable(`The search index has lost its ${name}, which will be added again`)
    },

    async close() {
      closed = true
    },
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>

function stagesOf(opened: () => Parts, source: IndexSource): Stages {
  /** Equality needs no check: its payload index is created with the collection. */
  const canFilter = async (keys: readonly string[], signal?: AbortSignal) => {
    const { terms, vectors } = opened()
    if (keys.length === 0) return true
    return (await terms.filters(keys, signal)) && (await vectors.filters(keys, signal))
  }

  return {
    async scopeOf(visibility, signal) {
      const keys = keysFor(visibility)
      if (keys && (await canFilter(keys, signal))) {
        const { rights } = visibility
        if (rights === 'all') return { visibility }
        return { visibility, readable: await source.readableCollections(rights.principals) }
      }
      return { only: await source.visibleKeys(visibility, signal) }
    },
    lexical: async (query, signal) => opened().terms.search(query, signal),
    nearest: async (query, signal) => opened().vectors.nearest(query, signal),
    fuse: (lexical, query, signal) => {
      const { terms, vectors } = opened()
      const nearest = async () => (await vectors.nearest(query, signal)).map(({ key }) => key)
      const shares = (keys: Uint32Array) => terms.sharesOf(query.terms, keys, signal)
      return rankHybrid({ nearest, read: source.readVectors, shares }, lexical, query)
    },
  }
}

async function findLost(
  collections: Collections,
  { termsName, vectorsName }: ServedCollections,
  { about, vectors }: Parts,
  signal?: AbortSignal,
) {
  const collection = vectors.collection()
  const [terms, dense] = await Promise.all([
    identityOf(collections, termsName, signal),
    collection && identityOf(collections, vectorsName, signal),
  ])
  if (terms === undefined) return 'lexical'
  if (collection && dense === undefined) return 'vectors'
  return terms === about.made && dense === collection?.made ? undefined : 'replaced'
}

/**
 * Terms and vectors are separate collections: each can be rebuilt, sharded and placed in memory independently, and
 * writing one need not read the other. Throws an Error that says what to do if a collection does not fit.
 */
async function openParts(
  connection: QdrantConnection,
  collections: Collections,
  served: ServedCollections,
  { settings }: QdrantIndexOptions,
  signal?: AbortSignal,
) {
  const { quantisation, filtersMemory, writeConsistency } = settings
  const pointsOf = (name: string) => createPoints(connection, name)
  const indexesOf = (name: string) => createPayloadIndexes(collections, name, filtersMemory)
  const { termsName, vectorsName } = served
  const about = await served.terms(signal)
  const terms = createTermsPart(pointsOf(termsName), indexesOf(termsName))
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
