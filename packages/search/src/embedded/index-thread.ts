import { setImmediate } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { notify, serveThread, transferring } from '@agent-server/lib/processes/thread.ts'
import type { VectorBatch } from '../chunk-index.ts'
import { rankHybrid } from '../fusion.ts'
import { type Ranking, toMatches } from '../ranking.ts'
import type { LexicalQuery, Scope, VectorQuery } from '../staged-search.ts'
import type { TermBatch } from '../term-batch.ts'
import { createChanges } from './changes.ts'
import { buffersOf, toColumns } from './columns.ts'
import { createLexicalIndex } from './lexical.ts'
import { createScopes } from './scope.ts'
import { MAX_CHUNKS_BUILT } from './segment.ts'
import { createLexicalPart, openSnapshot } from './snapshot.ts'
import { openVectorPart } from './vectors.ts'

export interface IndexThreadData {
  directory: string
  fingerprint: string
  vectorFingerprint: string
}

interface Addition {
  keys: Uint32Array<ArrayBuffer>
  terms: TermBatch
}

/** What a query is restricted to, by the number with which its keys were sent. */
type Scoped<Query> = Omit<Query, keyof Scope> & { scope: number | undefined }
type Fusion = Scoped<LexicalQuery & VectorQuery> & { lexical: Ranking }

/** For how many matches the share of the question's terms is looked up; more are seldom shown. */
const MAX_SHARES = 32

const { directory, fingerprint, vectorFingerprint }: IndexThreadData = workerData
const snapshot = await openSnapshot({ directory, fingerprint, notify })
const index = createLexicalIndex(snapshot.loaded)
const vectors = await openVectorPart({ directory, fingerprint: vectorFingerprint, notify })
const changes = createChanges([createLexicalPart(index, snapshot), vectors], notify)

const scopes = createScopes()

const methods = {
  /** Answered once the snapshot is loaded, like every call. */
  ready: () => true,

  add: (addition: Addition) => changes.apply(() => add(addition)),

  addVectors: (batch: VectorBatch) => changes.apply(() => vectors.add(batch)),

  remove: (keys: readonly number[]) =>
    changes.apply(() => {
      index.remove(keys)
      vectors.remove(keys)
    }),

  keepScope({ number, keys }: { number: number; keys: Uint32Array }): void {
    scopes.keep(number, keys)
  },

  forgetScope(number: number): void {
    scopes.forget(number)
  },

  lexical({ terms, limit, scope }: Scoped<LexicalQuery>) {
    const { keys, scores } = index.search(terms, limit, scopes.find(scope))
    const shares = index.sharesOf(terms, keys.subarray(0, MAX_SHARES))
    return transferring({ keys, scores, shares }, [keys.buffer, scores.buffer, shares.buffer])
  },

  nearest({ scope, ...query }: Scoped<VectorQuery>) {
    const { keys, scores } = vectors.nearest({ ...query, only: scopes.find(scope)?.keys })
    return transferring({ keys, scores }, [keys.buffer, scores.buffer])
  },

  async fuse({ lexical, terms, scope, ...query }: Fusion) {
    const only = scopes.find(scope)?.keys
    const { candidates, exhausted } = await rankHybrid(
      {
        nearest: () => [...vectors.nearest({ ...query, only }).keys],
        read: (keys) => vectors.read(keys, query.vector.length),
        shares: (keys) => index.sharesOf(terms, keys),
      },
      toMatches(lexical),
      { ...query, terms },
    )
    const columns = toColumns(candidates)
    const shares = index.sharesOf(terms, columns.keys.subarray(0, MAX_SHARES))
    return transferring({ columns, shares, exhausted }, [...buffersOf(columns), shares.buffer])
  },

  frequencies({ terms, scope }: Scoped<{ terms: Uint32Array<ArrayBuffer> }>) {
    const frequencies = index.frequencies(terms, scopes.find(scope))
    return transferring(frequencies, [frequencies.buffer])
  },

  vectorKeys() {
    const keys = vectors.keys()
    return transferring(keys, [keys.buffer])
  },

  keys() {
    const keys = index.keys()
    return transferring(keys, [keys.buffer])
  },

  flush: changes.flush,
}

export type IndexMethods = typeof methods

serveThread(methods, { overlapping: true })

async function add({ keys, terms }: Addition): Promise<void> {
  for (let from = 0; from < terms.size; from += MAX_CHUNKS_BUILT) {
    // Lets pending searches run between two parts of a large batch.
    if (from > 0) await setImmediate()
    index.add(keys, terms, from, Math.min(from + MAX_CHUNKS_BUILT, terms.size))
  }
}
