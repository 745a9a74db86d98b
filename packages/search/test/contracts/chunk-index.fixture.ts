import type { Filter, Metadata } from '@agent-server/lib/filter.ts'
import { type Labels, toPlace } from '@agent-server/lib/labels.ts'
import { narrowed } from '@agent-server/lib/visibility.ts'
import type {
  ChunkIndex,
  ChunkQuery,
  IndexMatch,
  IndexSource,
  VectorBatch,
} from '../../src/chunk-index.ts'
import type { QueryTerms, TermBatch } from '../../src/term-batch.ts'
import { readableBy, sees } from './takes.ts'

/** How often a chunk holds each term; a list names terms that it holds once. */
export type Terms = readonly string[] | Readonly<Record<string, number>>

/** A number that stands for `name` wherever terms are hashes: FNV-1a, so that it is spread like a hash. */
export function termOf(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
}

/** Chunks as long as their terms are many. */
export function batchOf(chunks: readonly Terms[]): TermBatch {
  const rows = chunks.map((terms) => {
    const entries = Array.isArray(terms) ? terms.map((name) => [name, 1]) : Object.entries(terms)
    return entries.map(([name, count]) => ({ term: termOf(String(name)), count: Number(count) }))
  })
  for (const row of rows) row.sort((a, b) => a.term - b.term)
  const offsets = [0]
  for (const row of rows) offsets.push((offsets.at(-1) ?? 0) + row.length)
  return {
    size: rows.length,
    lengths: Uint32Array.from(rows, (row) => row.reduce((sum, { count }) => sum + count, 0)),
    offsets: Uint32Array.from(offsets),
    terms: Uint32Array.from(rows.flat(), ({ term }) => term),
    counts: Uint8Array.from(rows.flat(), ({ count }) => count),
  }
}

export function queryOf(terms: Terms): QueryTerms {
  const entries = Array.isArray(terms) ? terms.map((name) => [name, 1]) : Object.entries(terms)
  return {
    terms: Uint32Array.from(entries, ([name]) => termOf(String(name))),
    counts: Float32Array.from(entries, ([, count]) => Number(count)),
  }
}

export function addTo(index: ChunkIndex, chunks: Readonly<Record<number, Terms>>): Promise<void> {
  return index.add(
    Uint32Array.from(Object.keys(chunks), Number),
    batchOf(Object.values(chunks)),
    [],
  )
}

type Limits = Partial<Pick<ChunkQuery, 'limit'>> & { filter?: Filter | undefined }

/** The labels of a document that belongs to no conversation. */
export const labelsOf = (metadata?: Metadata): Labels => ({
  ...toPlace(metadata),
  conversation: undefined,
})

/** What is seen outside of conversations, by somebody who sees every collection. */
export const seen = (filter?: Filter) =>
  narrowed({ collections: 'all', rights: 'all', conversations: 'none' }, filter)

/** A lexical search. */
export async function searchIn(
  index: Pick<ChunkIndex, 'search'>,
  terms: Terms,
  { filter, limit = 10 }: Limits = {},
): Promise<IndexMatch[]> {
  const query = { mode: 'lexical', terms: queryOf(terms), limit } as const
  return toMatches(await index.search(seen(filter), query))
}

/** The keys found, best first. */
export async function keysFor(index: ChunkIndex, terms: Terms, limit = 10): Promise<number[]> {
  return (await searchIn(index, terms, { limit })).map(({ key }) => key)
}

/** A dense search. */
export async function nearestIn(
  index: Pick<ChunkIndex, 'search'>,
  vector: Float32Array<ArrayBuffer>,
  { filter, limit = 10 }: Limits = {},
): Promise<IndexMatch[]> {
  const asked = { mode: 'dense', terms: queryOf([]), vector: Promise.resolve(vector) } as const
  return toMatches(await index.search(seen(filter), { ...asked, limit }))
}

function toMatches({ candidates }: { candidates: readonly IndexMatch[] }): IndexMatch[] {
  return candidates.map(({ key, score }) => ({ key, score }))
}

/** What an index reads from the document store, in memory; a test may put a real document store in its place. */
export function createSource() {
  const metadata = new Map<number, Metadata | undefined>()
  const labels = new Map<number, Labels>()
  const labelsAt = (key: number) => labels.get(key) ?? labelsOf(metadata.get(key))
  const vectors = new Map<number, Float32Array>()
  const source: IndexSource = {
    async visibleKeys(visibility) {
      const all = new Set([...metadata.keys(), ...labels.keys()])
      return Uint32Array.from([...all].filter((key) => sees(visibility, labelsAt(key)))).sort()
    },
    readableCollections: async (principals) => readableBy(principals),
    readChunks: async (_visibility, keys) => ({
      chunks: keys.map((key) => ({ key, ...labelsAt(key) })),
    }),
    async readVectors(wanted) {
      const keys = Uint32Array.from(wanted.filter((key) => vectors.has(key)))
      const dimension = vectors.get(keys[0] ?? 0)?.length ?? 0
      const values = new Float32Array(keys.length * dimension)
      keys.forEach((key, i) => {
        values.set(vectors.get(key) ?? [], i * dimension)
      })
      return { keys, dimension, values }
    },
  }
  return Object.assign(source, {
    metadata,
    /** Of documents that more is known of than their metadata. */
    labels,
    /** Keeps vectors, as a document store does before the index gets them. */
    keep({ keys, dimension, values }: VectorBatch) {
      keys.forEach((key, i) => {
        vectors.set(key, values.slice(i * dimension, (i + 1) * dimension))
      })
    },
  })
}
