import type { NewChunk } from '../document-store.ts'

/** Chunks as one array per column, which `unnest` makes rows of again. */
export function chunkColumns(chunks: readonly NewChunk[]) {
  return [
    chunks.map(({ key }) => key),
    chunks.map(({ ordinal }) => ordinal),
    chunks.map(({ start }) => start),
    chunks.map(({ end }) => end),
    chunks.map(({ heading }) => heading),
    chunks.map(({ text }) => text),
    chunks.map(({ page }) => page ?? null),
    chunks.map(({ pageEnd }) => pageEnd ?? null),
  ]
}
