import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { NearestQuery, Ranking, VectorBatch } from '../chunk-index.ts'
import type { ScaledVectors } from '../hybrid-ranking.ts'
import {
  checksumOf,
  type IndexFilesOptions,
  openIndexFiles,
  readWhole,
  syncToDisk,
  writeDurably,
} from './index-files.ts'
import { createJobs, QUIET_MS } from './maintenance.ts'
import { createQuantisedVectors, type QuantisedVectors } from './quantised-vectors.ts'
import {
  loadGraphSearch,
  scanVectors,
  type VectorSearch,
  type VectorSearchKind,
} from './vector-search.ts'

/** Vectors added before yielding to pending searches; adding one takes about 1 ms at worst. */
const VECTORS_PER_STEP = 16
/** Unwritten changes allowed: this number or a share of all vectors, so that large indexes are written rarely. */
const MIN_UNWRITTEN = 8_192
const UNWRITTEN_SHARE = 1 / 4
/** Share allowed after `QUIET_MS` without a change: no more than this must be added again after a crash. */
const UNWRITTEN_SHARE_WHEN_QUIET = 1 / 20

interface PartOptions extends IndexFilesOptions {
  /** How vectors are searched; if loading it fails, by brute force. */
  loadKind?: () => Promise<VectorSearchKind>
  quietMs?: number
}

/** The vectors and the search among them. */
interface Held {
  vectors: QuantisedVectors
  search: VectorSearch
}

/** The vectors of the index, kept on disk. The first vector added determines the dimension. */
export async function openVectorPart(options: PartOptions) {
  const { loadKind = loadGraphSearch, notify } = options
  const kind = await loadKind().catch((error: unknown) => {
    notify({
      message: 'usearch has no build for this machine: vectors are searched one by one',
      fields: { err: error },
    })
    return scanVectors
  })
  const snapshot = await openVectorSnapshot(kind, options)
  let held: Held | undefined = snapshot.loaded
  const { flush, changed } = createWriting(snapshot, () => held, options)

  const openFor = (dimension: number): Held => {
    if (!held || held.vectors.size === 0) held = create(kind, createQuantisedVectors(dimension))
    const { vectors } = held
    if (vectors.dimension === dimension) return held
    throw new RangeError(`The index holds vectors of ${vectors.dimension}, not ${dimension}`)
  }

  return {
    async add({ keys, dimension, values }: VectorBatch): Promise<void> {
      if (keys.length === 0) return
      const { vectors, search } = openFor(dimension)
      for (let from = 0; from < keys.length; from += VECTORS_PER_STEP) {
        if (from > 0) await setImmediate()
        const to = Math.min(from + VECTORS_PER_STEP, keys.length)
        const part = values.subarray(from * dimension, to * dimension)
        search.add?.(keys.subarray(from, to), part)
        vectors.set(keys.subarray(from, to), part)
      }
      await changed(keys.length)
    },
    async remove(keys: readonly number[]): Promise<void> {
      const known = [...new Set(keys)].filter((key) => held?.vectors.has(key))
      held?.search.remove?.(known)
      for (const key of known) held?.vectors.delete(key)
      await changed(known.length)
    },
    nearest: (query: NearestQuery): Ranking =>
      held?.vectors.dimension === query.vector.length
        ? held.search.nearest(query)
        : { keys: new Uint32Array(), scores: new Float64Array() },
    /** The vectors of these keys; keys without a vector of this dimension are omitted. */
    read: (keys: readonly number[], dimension: number): ScaledVectors =>
      held?.vectors.dimension === dimension
        ? held.vectors.read(keys)
        : { keys: new Uint32Array(), dimension, values: new Float32Array() },
    keys: () => held?.vectors.keys() ?? new Uint32Array(),
    flush,
  }
}

/** Decides when the vectors are written. */
function createWriting(
  snapshot: Pick<VectorSnapshot, 'save'>,
  heldNow: () => Held | undefined,
  { notify, quietMs = QUIET_MS }: PartOptions,
) {
  const { enqueue } = createJobs(notify)
  let unwritten = 0
  let quiet: NodeJS.Timeout | undefined

  const save = async () => {
    const held = heldNow()
    if (!held || unwritten === 0) return
    const changes = unwritten
    unwritten = 0
    try {
      await snapshot.save(held)
    } catch (error) {
      unwritten += changes
      throw error
    }
  }
  /** Resolves when the current vectors are on disk. */
  const flush = () => enqueue(save)
  const flushAbove = async (share: number, least = 0) => {
    if (unwritten <= Math.max(least, (heldNow()?.vectors.size ?? 0) * share)) return
    // A disk failure must not make additions fail: the next start adds the vectors again.
    await flush().catch((error: unknown) => {
      notify({ message: 'the vectors could not be written', fields: { err: error } })
    })
  }

  return {
    flush,
    changed(changes: number): Promise<void> {
      unwritten += changes
      quiet ??= setTimeout(() => void flushAbove(UNWRITTEN_SHARE_WHEN_QUIET), quietMs).unref()
      quiet.refresh()
      return flushAbove(UNWRITTEN_SHARE, MIN_UNWRITTEN)
    },
  }
}

function create(kind: VectorSearchKind, vectors: QuantisedVectors, path?: string): Held {
  return { vectors, search: kind(vectors, path) }
}

const UNREADABLE = 'the vectors of the search index cannot be read: they will be indexed again'

const VECTORS = {
  format: 1,
  manifestName: 'vectors.json',
  numbered: /^(\d+)\.(?:graph|keys|vectors)$/,
  messages: {
    other: 'the vectors have been made anew: indexing them afresh',
    unreadable: UNREADABLE,
  },
}

interface Manifest {
  dimension: number
  vectorsChecksum: number
  /** Absent if the vectors are searched without a graph. */
  graphChecksum: number | undefined
}

type VectorSnapshot = Awaited<ReturnType<typeof openVectorSnapshot>>

/** Opens the vectors on disk. If they are damaged, missing or of another kind, that is logged and they are ignored. */
async function openVectorSnapshot(kind: VectorSearchKind, options: IndexFilesOptions) {
  const files = await openIndexFiles<Manifest>(VECTORS, options)
  const namesOf = (generation: number) => [`${generation}.vectors`, `${generation}.graph`] as const
  const pathOf = (name: string) => join(options.directory, name)

  const load = async (): Promise<Held | undefined> => {
    const manifest = files.content
    if (!manifest) return undefined
    const [vectorsName, graphName] = namesOf(manifest.generation)
    const bytes = await readWhole(pathOf(vectorsName))
    const { dimension, graphChecksum } = manifest
    // The library does not validate what it loads, so it must not be given a damaged file.
    const isWhole =
      crc32(bytes) === manifest.vectorsChecksum &&
      (graphChecksum === undefined || (await checksumOf(pathOf(graphName))) === graphChecksum)
    if (!isWhole) throw new Error('a checksum does not match')
    return create(kind, createQuantisedVectors(dimension, bytes), pathOf(graphName))
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
    async save({ vectors, search }: Held): Promise<void> {
      const names = namesOf(files.nextNumber())
      const [vectorsName, graphName] = names
      const { dimension } = vectors
      const bytes = vectors.save()
      search.save?.(pathOf(graphName))
      if (search.save) await syncToDisk(pathOf(graphName), 'r+')
      await writeDurably(pathOf(vectorsName), bytes)
      const vectorsChecksum = crc32(bytes)
      // Frees the memory at once: in a thread that allocates little else, garbage collection may be hours away.
      bytes.buffer.transfer(0)
      const graphChecksum = search.save && (await checksumOf(pathOf(graphName)))
      await files.save({ dimension, vectorsChecksum, graphChecksum }, names)
    },
  }
}
