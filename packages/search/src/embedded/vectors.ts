import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { lowerBound } from '@agent-server/lib/lower-bound.ts'
import type { VectorBatch } from '../chunk-index.ts'
import { cosinesTo, type ScaledVectors } from '../fusion.ts'
import { createTopHits, type Ranking } from '../ranking.ts'
import type { VectorQuery } from '../staged-search.ts'
import {
  checksumOf,
  type IndexFilesOptions,
  openIndexFiles,
  readWhole,
  syncToDisk,
  writeDurably,
} from './index-files.ts'
import { createQuantisedVectors, type QuantisedVectors } from './quantised-vectors.ts'
import { openGraph, type VectorGraph } from './vector-graph.ts'

/** Vectors added before yielding to pending searches; adding one takes about 1 ms at worst. */
const VECTORS_PER_STEP = 16
/** Unwritten changes allowed: this number or a share of all vectors, so that large indexes are written rarely. */
const MIN_UNWRITTEN = 8_192
const UNWRITTEN_SHARE = 1 / 4
/** Share allowed after a while without changes: no more than this must be added again after a crash. */
const UNWRITTEN_SHARE_WHEN_QUIET = 1 / 20

/** To find one more vector in the graph takes as long as to compare so many. */
const COMPARED_FOR_ONE = 8
/** How many results cost nothing extra: as many candidates are compared anyway. */
const MIN_DEPTH = 128
/**
 * The first of the scope must be in the first half of what the graph finds, whose last are not always the nearest: where
 * rights follow topics, a question may be far from all of them.
 */
const FIRST = 10
/** How much deeper than a scope of its share needs on average the graph is searched, and by how much if that was not enough. */
const SPARE = 1.2
const DEEPER = 4

/** The vectors, and a graph of them. */
interface GraphedVectors {
  vectors: QuantisedVectors
  graph: VectorGraph
}

/** The vectors of the index, kept on disk. The first vector added determines the dimension. */
export async function openVectorPart(options: IndexFilesOptions) {
  const snapshot = await openVectorSnapshot(options)
  let current: GraphedVectors | undefined = snapshot.loaded
  let unwritten = 0

  const openFor = async (dimension: number): Promise<GraphedVectors> => {
    if (!current || current.vectors.size === 0) {
      current = { vectors: createQuantisedVectors(dimension), graph: await openGraph(dimension) }
    }
    const { vectors } = current
    if (vectors.dimension === dimension) return current
    throw new RangeError(`The index holds vectors of ${vectors.dimension}, not ${dimension}`)
  }
  const forget = (keys: Iterable<number>): number[] => {
    const existing = [...new Set(keys)].filter((key) => current?.vectors.has(key))
    current?.graph.remove(existing)
    for (const key of existing) current?.vectors.delete(key)
    return existing
  }

  const writeAbove = async (limit: number) => {
    if (!current || unwritten <= limit) return
    await snapshot.save(current)
    unwritten = 0
  }
  const shareOf = (share: number) => share * (current?.vectors.size ?? 0)

  return {
    async add({ keys, dimension, values }: VectorBatch): Promise<void> {
      if (keys.length === 0) return
      const { vectors, graph } = await openFor(dimension)
      for (let from = 0; from < keys.length; from += VECTORS_PER_STEP) {
        if (from > 0) await setImmediate()
        const to = Math.min(from + VECTORS_PER_STEP, keys.length)
        const [newKeys, part] = [
          keys.subarray(from, to),
          values.subarray(from * dimension, to * dimension),
        ]
        forget(newKeys)
        graph.add(newKeys, part)
        vectors.set(newKeys, part)
      }
      unwritten += keys.length
    },
    remove(keys: readonly number[]): void {
      unwritten += forget(keys).length
    },
    nearest: (query: VectorQuery): Ranking => {
      if (current?.vectors.dimension === query.vector.length) return nearestOf(current, query)
      return { keys: new Uint32Array(), scores: new Float64Array() }
    },
    /** The vectors of these keys; keys without a vector of this dimension are omitted. */
    read: (keys: readonly number[], dimension: number): ScaledVectors =>
      current?.vectors.dimension === dimension
        ? current.vectors.read(keys)
        : { keys: new Uint32Array(), dimension, values: new Float32Array() },
    keys: () => current?.vectors.keys() ?? new Uint32Array(),
    tidy: () => writeAbove(Math.max(MIN_UNWRITTEN, shareOf(UNWRITTEN_SHARE))),
    rest: () => writeAbove(shareOf(UNWRITTEN_SHARE_WHEN_QUIET)),
    flush: () => writeAbove(0),
  }
}

/** The graph's results are compared once more, because its own cosines are coarse. */
function nearestOf(
  { vectors, graph }: GraphedVectors,
  { vector, limit, only }: VectorQuery,
): Ranking {
  const { size } = vectors
  const allowed = only?.length ?? size
  // The graph does not support filters, so that more are requested for enough to pass.
  let depth = Math.max(MIN_DEPTH, only ? Math.ceil((limit * size * SPARE) / allowed) : limit)
  for (; COMPARED_FOR_ONE * depth < allowed; depth *= DEEPER) {
    const near = graph.search(vector, depth)
    if (!only) return compareAll(vectors.read(near), { vector, limit })
    const keys = near.filter((key) => contains(only, key))
    const last = near.indexOf(keys[Math.min(FIRST, limit) - 1] ?? 0)
    if (keys.length >= limit && last < depth / 2)
      return compareAll(vectors.read(keys), { vector, limit })
  }
  return compareAll(only ? vectors.read(only) : vectors.all(), { vector, limit })
}

function contains(ascending: Uint32Array, key: number): boolean {
  return ascending[lowerBound(ascending, key, 0, ascending.length)] === key
}

function compareAll(
  vectors: ScaledVectors,
  { vector, limit }: Pick<VectorQuery, 'vector' | 'limit'>,
): Ranking {
  const cosines = cosinesTo(vector, vectors)
  const hits = createTopHits(limit)
  for (const [place, key] of vectors.keys.entries()) hits.offer(key, cosines[place] ?? 0)
  return hits.take()
}

const UNREADABLE = 'the vectors of the search index cannot be read and will be indexed again'

const VECTORS = {
  format: 1,
  manifestName: 'vectors.json',
  numbered: /^(\d+)\.(?:graph|keys|vectors)$/,
  messages: {
    other: 'the vectors were re-created: indexing them again',
    unreadable: UNREADABLE,
  },
}

interface Manifest {
  dimension: number
  vectorsChecksum: number
  graphChecksum: number
}

/** Opens the vectors on disk. If they are damaged, missing or of another kind, that is logged and they are ignored. */
async function openVectorSnapshot(options: IndexFilesOptions) {
  const files = await openIndexFiles<Manifest>(VECTORS, options)
  const namesOf = (generation: number) => [`${generation}.vectors`, `${generation}.graph`] as const
  const pathOf = (name: string) => join(options.directory, name)

  const load = async (): Promise<GraphedVectors | undefined> => {
    const manifest = files.content
    if (!manifest) return undefined
    const [vectorsName, graphName] = namesOf(manifest.generation)
    const bytes = await readWhole(pathOf(vectorsName))
    // The library does not validate what it loads, so it must not be given a damaged file.
    if (
      crc32(bytes) !== manifest.vectorsChecksum ||
      (await checksumOf(pathOf(graphName))) !== manifest.graphChecksum
    )
      throw new Error('a checksum does not match')
    const { dimension } = manifest
    const vectors = createQuantisedVectors(dimension, bytes)
    const graph = await openGraph(dimension, pathOf(graphName))
    if (graph.dimensions() !== dimension || graph.size() !== vectors.size)
      throw new Error('the graph is of other vectors')
    return { vectors, graph }
  }

  const loaded = await load().catch((error: unknown) => {
    options.notify({ message: UNREADABLE, fields: { err: error } })
    return undefined
  })
  await files.removeAllBut(loaded ? namesOf(files.content?.generation ?? 0) : [])

  return {
    /** The vectors read at start-up; undefined if there were none or they could not be read. */
    loaded,
    /** Writes the vectors and makes them the current ones. */
    async save({ vectors, graph }: GraphedVectors): Promise<void> {
      const names = namesOf(files.nextNumber())
      const [vectorsName, graphName] = names
      const bytes = vectors.save()
      graph.save(pathOf(graphName))
      await syncToDisk(pathOf(graphName), 'r+')
      await writeDurably(pathOf(vectorsName), bytes)
      const vectorsChecksum = crc32(bytes)
      // Frees the memory at once: in a thread that allocates little else, garbage collection may be hours away.
      bytes.buffer.transfer(0)
      const graphChecksum = await checksumOf(pathOf(graphName))
      const { dimension } = vectors
      await files.save({ dimension, vectorsChecksum, graphChecksum }, names)
    },
  }
}
