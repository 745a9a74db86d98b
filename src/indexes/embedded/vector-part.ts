import { setImmediate } from 'node:timers/promises'
import type { Notice } from '../../lib/thread.ts'
import type { NearestQuery, Ranking, VectorBatch, VectorSearch } from '../chunk-index.ts'
import { loadGraphVectors } from './graph-vectors.ts'
import { SCANNED_VECTORS } from './scanned-vectors.ts'
import type { VectorIndex, VectorIndexKind } from './vector-index.ts'
import { openVectorSnapshot } from './vector-snapshot.ts'

/** Vectors added between two chances to answer a search; one takes about a millisecond at worst. */
const VECTORS_PER_STEP = 16
/** Changes that may wait to be written, at least; and as a part of what is there, so that a large index is not written all the time. */
const LEAST_UNWRITTEN = 8_192
const UNWRITTEN_PART = 1 / 4

interface PartOptions {
  directory: string
  fingerprint: string
  notify: (notice: Notice) => void
  /** How vectors are searched; where that has no build for the machine, each is looked at. */
  loadKind?: () => Promise<VectorIndexKind>
}

/** The vectors of the index: made with the first of them, kept on the disk. */
export interface VectorPart {
  add(batch: VectorBatch): Promise<void>
  remove(keys: readonly number[]): Promise<void>
  nearest(query: NearestQuery): Ranking
  keys(): Uint32Array<ArrayBuffer>
  statistics(): { size: number; bytes: number; search: VectorSearch }
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
    const limit = Math.max(LEAST_UNWRITTEN, (index?.size ?? 0) * UNWRITTEN_PART)
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
      index?.dimension === query.vector.length ? index.nearest(query) : noRanking(),
    keys: () => index?.keys() ?? new Uint32Array(),
    statistics: () => ({
      size: index?.size ?? 0,
      bytes: index?.bytes ?? 0,
      search: index?.search ?? kind.create(1).search,
    }),
    flush,
  }
}

function noRanking(): Ranking {
  return { keys: new Uint32Array(), scores: new Float64Array() }
}
