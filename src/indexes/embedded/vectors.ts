import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Notice } from '../../lib/thread.ts'
import type { NearestQuery, Ranking, VectorBatch } from '../chunk-index.ts'
import { loadGraphVectors } from './graph.ts'
import { createManifestFile, syncToDisk, writeDurably } from './manifest.ts'
import { SCANNED_VECTORS, type VectorIndex, type VectorIndexKind } from './scan.ts'

/** Vectors added between two chances to answer a search; one takes about a millisecond at worst. */
const VECTORS_PER_STEP = 16
/** Changes that may wait to be written, at least; and as a part of what is there, so that a large index is not written all the time. */
const MIN_UNWRITTEN = 8_192
const UNWRITTEN_SHARE = 1 / 4

interface PartOptions {
  directory: string
  fingerprint: string
  notify: (notice: Notice) => void
  /** How vectors are searched; where that has no build for the machine, each is looked at. */
  loadKind?: () => Promise<VectorIndexKind>
}

/** The vectors of the index: made with the first of them, kept on the disk. */
interface VectorPart {
  add(batch: VectorBatch): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  nearest(query: NearestQuery): Ranking
  keys(): Uint32Array<ArrayBuffer>
  /** Resolves when all that is held now is on the disk, where it can be kept there. */
  flush(): Promise<void>
}

export async function openVectorPart(options: PartOptions): Promise<VectorPart> {
  const { directory, fingerprint, notify, loadKind = loadGraphVectors } = options
  const kind = await loadKind().catch((error: unknown) => {
    notify({
      message: 'usearch has no build for this machine: vectors are searched one by one',
      fields: { err: error },
    })
    return SCANNED_VECTORS
  })
  const snapshot = await openVectorSnapshot({ directory, fingerprint, kind, notify })
  let index: VectorIndex | undefined = snapshot.loaded
  let unwritten = 0

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
    async add({ keys, dimension, values }) {
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
    async remove(keys) {
      const removed = index?.remove(keys) ?? 0
      await changed(removed)
    },
    nearest: (query) =>
      index?.dimension === query.vector.length
        ? index.nearest(query)
        : { keys: new Uint32Array(), scores: new Float64Array() },
    keys: () => index?.keys() ?? new Uint32Array(),
    flush,
  }
}

const VECTORS_FILE = /^(\d+)\.(?:graph|keys)$/

interface Manifest {
  fingerprint: string
  dimension: number
  /** In the names of its files. */
  generation: number
  graphChecksum: number
  keysChecksum: number
}

interface SnapshotOptions {
  directory: string
  /** Changes when all vectors are made anew: those of another one are of no use. */
  fingerprint: string
  kind: VectorIndexKind
  notify: (notice: Notice) => void
}

/** The vector index on the disk. Whatever is damaged, missing or of other vectors is reported and left out. */
async function openVectorSnapshot({ directory, fingerprint, kind, notify }: SnapshotOptions) {
  const manifestFile = createManifestFile<Manifest>(directory, 'vectors.json')
  const filesOf = (generation: number) => ({
    graph: join(directory, `${generation}.graph`),
    keys: join(directory, `${generation}.keys`),
  })

  const load = async (): Promise<VectorIndex | undefined> => {
    const manifest = await manifestFile.read()
    if (!manifest || !kind.load) return undefined
    if (manifest.fingerprint !== fingerprint) {
      const fields = { was: manifest.fingerprint, is: fingerprint }
      notify({ message: 'the vectors have been made anew: indexing them afresh', fields })
      return undefined
    }
    const { graph, keys } = filesOf(manifest.generation)
    const held = await readFile(keys)
    // The library trusts what it loads: a damaged file must not reach it.
    const isWhole =
      crc32(held) === manifest.keysChecksum &&
      crc32(await readFile(graph)) === manifest.graphChecksum
    if (!isWhole) throw new Error('a checksum does not match')
    return kind.load(graph, manifest.dimension, new Uint32Array(new Uint8Array(held).buffer))
  }

  const removeAllBut = async (kept: number | undefined): Promise<void> => {
    await manifestFile.tidy()
    for (const file of await readdir(directory)) {
      const generation = VECTORS_FILE.exec(file)?.[1]
      if (generation !== undefined && Number(generation) !== kept) {
        await rm(join(directory, file), { force: true })
      }
    }
  }

  const loaded = await load().catch((error: unknown) => {
    notify({
      message: 'the vectors of the search index cannot be read: they will be indexed again',
      fields: { err: error },
    })
    return undefined
  })
  const found = await readdir(directory)
  let generation = Math.max(0, ...found.map((file) => Number(VECTORS_FILE.exec(file)?.[1] ?? 0)))
  if (!loaded) {
    await manifestFile.remove()
    await removeAllBut(undefined)
  }

  return {
    /** What could be read at the start. */
    loaded,
    /** Makes the index the one that a start finds. */
    async save(index: VectorIndex): Promise<void> {
      if (!index.save) return
      const { graph, keys } = filesOf(++generation)
      index.save(graph)
      await syncToDisk(graph, 'r+')
      await writeDurably(keys, new Uint8Array(index.keys().buffer))
      await manifestFile.write({
        ...{ fingerprint, generation, dimension: index.dimension },
        graphChecksum: crc32(await readFile(graph)),
        keysChecksum: crc32(await readFile(keys)),
      })
      await removeAllBut(generation)
    },
  }
}
