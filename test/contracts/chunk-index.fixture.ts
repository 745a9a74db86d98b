import { crc32 } from 'node:zlib'
import type { ChunkIndex, IndexMatch } from '../../src/indexes/chunk-index.ts'
import type { QueryTerms, TermBatch } from '../../src/indexes/term-batch.ts'

/** How often a chunk holds each term; a list names terms that it holds once. */
export type Terms = readonly string[] | Readonly<Record<string, number>>

/** A number that stands for `name` wherever terms are hashes: FNV-1a, so that it is spread like a hash. */
export function termOf(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
}

/** Chunks as long as their terms are many; the same terms are the same text. */
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
    digests: Uint32Array.from(rows, (row) => crc32(JSON.stringify(row))),
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

export function searchIn(index: ChunkIndex, terms: Terms, limit = 10): Promise<IndexMatch[]> {
  return index.search({ terms: queryOf(terms), limit })
}

/** The keys found, best first. */
export async function keysFor(index: ChunkIndex, terms: Terms, limit = 10): Promise<number[]> {
  return (await searchIn(index, terms, limit)).map(({ key }) => key)
}
