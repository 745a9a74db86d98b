import { setImmediate } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { notify, serveThread, transferring } from '../../lib/processes/thread.ts'
import type { IndexQuery, NearestQuery, VectorBatch, WordQuery } from '../chunk-index.ts'
import { FEEDBACK_CHUNKS, learnFrom, MIN_RESCORED } from '../feedback.ts'
import { rankHybrid } from '../hybrid-ranking.ts'
import { toHybridColumns, toMatches } from '../ranking.ts'
import type { TermBatch } from '../term-batch.ts'
import { createLexicalIndex } from './lexical.ts'
import { createMaintenance } from './maintenance.ts'
import { MAX_CHUNKS_BUILT } from './segment.ts'
import { openSnapshot } from './snapshot.ts'
import { openVectorPart } from './vectors.ts'

export interface IndexThreadData {
  directory: string
  fingerprint: string
  vectorFingerprint: string
}

interface Question extends WordQuery {
  id: number
}

interface GivenVector {
  id: number
  /** Undefined if the question could not be embedded. */
  vector: Float32Array<ArrayBuffer> | undefined
}

interface Addition {
  keys: Uint32Array<ArrayBuffer>
  terms: TermBatch
}

const { directory, fingerprint, vectorFingerprint }: IndexThreadData = workerData
const snapshot = await openSnapshot({ directory, fingerprint, notify })
const index = createLexicalIndex(snapshot.loaded)
const maintenance = createMaintenance({ index, snapshot, notify })
const vectors = await openVectorPart({ directory, fingerprint: vectorFingerprint, notify })
/** Questions waiting for their vectors; the caller always ends the wait, with or without a vector. */
const questions = new Map<number, (vector: GivenVector['vector']) => void>()
/** Additions and removals are applied in order of arrival. */
let changes: Promise<unknown> = Promise.resolve()

const methods = {
  /** Answered once the snapshot is loaded, like every call. */
  ready: () => true,

  add: (addition: Addition) => change(() => add(addition)),

  addVectors: (batch: VectorBatch) => change(() => vectors.add(batch)),

  remove: (keys: readonly number[]) =>
    change(() => {
      index.remove(keys)
      return vectors.remove(keys)
    }),

  search({ terms, limit, feedback, only }: IndexQuery) {
    const { keys, scores } = feedback
      ? index.rescore(terms, limit, feedback)
      : index.search(terms, limit, only)
    return transferring({ keys, scores }, [keys.buffer, scores.buffer])
  },

  /** Search with pseudo-relevance feedback; `best` is the key to keep first. */
  searchLearning({ terms, limit, only }: WordQuery) {
    const found = index.search(terms, Math.max(limit, MIN_RESCORED), only)
    const [best] = found.keys
    const leading = found.keys.slice(0, FEEDBACK_CHUNKS)
    const { keys, scores } =
      leading.length === FEEDBACK_CHUNKS
        ? index.rescore(terms, limit, learnFrom(found, index.termsOf(leading)))
        : found
    return transferring({ keys, scores, best }, [keys.buffer, scores.buffer])
  },

  /** Answers after `giveVector` is called for the same question, which must follow this call. */
  async searchHybrid({ id, terms, limit, only }: Question) {
    const lexical = toMatches(index.search(terms, limit, only))
    const vector = await new Promise<GivenVector['vector']>((resolve) => questions.set(id, resolve))
    if (!vector) return
    const { candidates, exhausted } = await rankHybrid(
      {
        nearest: () => [...vectors.nearest({ vector, only, limit }).keys],
        read: (keys) => vectors.read(keys, vector.length),
      },
      lexical,
      { vector, only, limit },
    )
    return { ...toHybridColumns(candidates), exhausted }
  },

  giveVector({ id, vector }: GivenVector) {
    questions.get(id)?.(vector)
    questions.delete(id)
  },

  nearest(query: NearestQuery) {
    const { keys, scores } = vectors.nearest(query)
    return transferring({ keys, scores }, [keys.buffer, scores.buffer])
  },

  vectorKeys() {
    const keys = vectors.keys()
    return transferring(keys, [keys.buffer])
  },

  keys() {
    const keys = index.keys()
    return transferring(keys, [keys.buffer])
  },

  async flush() {
    await change(() => undefined)
    await maintenance.flush()
    await change(vectors.flush)
  },
}

export type IndexMethods = typeof methods

serveThread(methods, { overlapping: true })

function change(apply: () => Promise<void> | void): Promise<void> {
  const done = changes.then(apply).then(maintenance.wake)
  changes = done.catch(() => undefined)
  return done
}

async function add({ keys, terms }: Addition): Promise<void> {
  for (let from = 0; from < terms.size; from += MAX_CHUNKS_BUILT) {
    // Lets pending searches run between two parts of a large batch.
    if (from > 0) await setImmediate()
    index.add(keys, terms, from, Math.min(from + MAX_CHUNKS_BUILT, terms.size))
    maintenance.wake()
    await maintenance.room()
  }
}
