import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { NearestQuery, Ranking, VectorBatch } from '../chunk-index.ts'
import { loadGraphVectors } from './graph.ts'
import { type IndexFilesOptions, openIndexFiles, syncToDisk, writeDurably } from './index-files.ts'
import { SCANNED_VECTORS, type VectorIndex, type VectorIndexKind } from './scan.ts'

/** Vectors added between two chances to answer a search; one takes about a millisecond at worst. */
const VECTORS_PER_STEP = 16
/** Changes that may wait to be written, at least; and as a part of what is there, so that a large index is not written all the time. */
const MIN_UNWRITTEN = 8_192
const UNWRITTEN_SHARE = 1 / 4

interface PartOptions extends IndexFilesOptions {
  /** How vectors are searched; where that has no build for the machine, each is looked at. */
  loadKind?: () => Promise<VectorIndexKind>
}

/** The vectors of the index: made with the first of them, kept on the disk. */
export async function openVectorPart({ loadKind = loadGraphVectors, ...options }: PartOptions) {
  const { notify } = options
  const kind = await loadKind().catch((error: unknown) => {
    notify({
      message: 'usearch has no build for this machine: vectors are searched one by one',
      fields: { err: error },
    })
    return SCANNED_VECTORS
  })
  const snapshot = await openVectorSnapshot(kind, options)
  let index: VectorIndex | undefined = snapshot.loaded
  let unwritten = 0

  /** Resolves when all that is held now is on the disk, where it can be kept there. */
  const flush = async () => {
    if (!index || unwritten === 0) return
    unwritten = 0
    await snapshot.save(index)
  }

  const changed = async (changes: number) => {
    unwritten += changes
    const limit = Math.max(MIN_UNWRITTEN, (index?.size ?? 0) * UNWRITTEN_SHARE)
    if (unwritten <= limit) return
    // What is added must not fail because the disk does: the next start adds it again.
    await flush().catch((error: unknown) => {
      notify({ message: 'the vectors could not be written', fields: { err: error } })
    })
  }

  return {
    async add({ keys, dimension, values }: VectorBatch): Promise<void> {
      if (keys.length === 0) return
      if (!index || index.size === 0) index = kind.create(dimension)
      if (index.dimension !== dimension) {
        throw new RangeError(`The index holds vectors of ${index.dimension}, not ${dimension}`)
      }
      for (let from = 0; from < keys.length; from += VECTORS_PER_STEP) {
        if (from > 0) await setImmediate()
        const to = Math.min(from + VECTORS_PER_STEP, keys.length)
        index.add(keys.subarray(from, to), values.subarray(from * dimension, to * dimension))
      }
      await changed(keys.length)
    },
    remove: (keys: readonly number[]) => changed(index?.remove(keys) ?? 0),
    nearest: (query: NearestQuery): Ranking =>
      index?.dimension === query.vector.length
        ? index.nearest(query)
        : { keys: new Uint32Array(), scores: new Float64Array() },
    keys: () => index?.keys() ?? new Uint32Array(),
    flush,
  }
}

const UNREADABLE = 'the vectors of the search index cannot be read: they will be indexed again'

const VECTORS = {
  manifestName: 'vectors.json',
  numbered: /^(\d+)\.(?:graph|keys)$/,
  messages: {
    other: 'the vectors have been made anew: indexing them afresh',
    unreadable: UNREADABLE,
  },
}

interface Manifest {
  dimension: number
  graphChecksum: number
  keysChecksum: number
}

/** The vector index on the disk. Whatever is damaged, missing or of other vectors is reported and left out. */
async function openVectorSnapshot(kind: VectorIndexKind, options: IndexFilesOptions) {
  const files = await openIndexFiles<Manifest>(VECTORS, options)
  const namesOf = (generation: number) => [`${generation}.graph`, `${generation}.keys`] as const
  const pathOf = (name: string) => join(options.directory, name)

  const load = async (): Promise<VectorIndex | undefined> => {
    const manifest = files.content
    if (!manifest || !kind.load) return undefined
    const [graph, keys] = namesOf(manifest.generation)
    const held = await readFile(pathOf(keys))
    // The library trusts what it loads: a damaged file must not reach it.
    const isWhole =
      crc32(held) === manifest.keysChecksum &&
      crc32(await readFile(pathOf(graph))) === manifest.graphChecksum
    if (!isWhole) throw new Error('a checksum does not match')
    const numbers = new Uint32Array(new Uint8Array(held).buffer)
    return kind.load(pathOf(graph), manifest.dimension, numbers)
  }

  const loaded = await load().catch((error: unknown) => {
    options.notify({ message: UNREADABLE, fields: { err: error } })
    return undefined
  })
  await files.removeAllBut(loaded ? namesOf(files.content?.generation ?? 0) : [])

  return {
    /** What could be read at the start. */
    loaded,
    /** Makes the index the one that a start finds. */
    async save(index: VectorIndex): Promise<void> {
      if (!index.save) return
      const names = namesOf(files.nextNumber())
      const [graph, keys] = names
      const held = new Uint8Array(index.keys().buffer)
      index.save(pathOf(graph))
      await syncToDisk(pathOf(graph), 'r+')
      await writeDurably(pathOf(keys), held)
      const graphChecksum = crc32(await readFile(pathOf(graph)))
      const { dimension } = index
      await files.save({ dimension, graphChecksum, keysChecksum: crc32(held) }, names)
    },
  }
}
