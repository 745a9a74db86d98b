import type { Random } from '../../../../test/support/random.ts'
import { B, inverseFrequency, K1 } from '../../src/term-batch.ts'

/** A word of `vocabulary`; as in a language, few of them are used often. */
export function randomWord({ next }: Random, vocabulary: number): string {
  return `word ${Math.floor(Math.exp(next() * Math.log(vocabulary)))}`
}

export type Chunk = Record<string, number>

export function randomChunk(random: Random, vocabulary: number): Chunk {
  const chunk: Chunk = {}
  for (let length = 1 + random.below(60); length > 0; length--) {
    const word = randomWord(random, vocabulary)
    chunk[word] = (chunk[word] ?? 0) + 1
  }
  return chunk
}

export function randomQuery(random: Random, vocabulary: number): Chunk {
  const query: Chunk = {}
  for (let size = 1 + random.below(8); size > 0; size--) {
    query[randomWord(random, vocabulary)] = 1 + random.below(2)
  }
  return query
}

export interface Scored {
  key: number
  score: number
}

/** BM25 by its definition, over every chunk, in the order of addition that the index promises: heavy terms first. */
export function rankByDefinition(
  chunks: ReadonlyMap<number, Chunk>,
  query: Chunk,
  limit: number,
): Scored[] {
  const lengths = new Map<number, number>()
  for (const [key, chunk] of chunks) {
    lengths.set(
      key,
      Object.values(chunk).reduce((sum, count) => sum + count, 0),
    )
  }
  const total = lengths.values().reduce((sum, length) => sum + length, 0)
  const norm = (key: number) =>
    K1 * (1 - B) + ((K1 * B * chunks.size) / total) * (lengths.get(key) ?? 0)
  const weights = Object.entries(query)
    .map(([word, asked]) => {
      const holding = chunks
        .values()
        .filter((chunk) => word in chunk)
        .toArray().length
      return { word, weight: asked * inverseFrequency(chunks.size, holding) * (K1 + 1) }
    })
    .toSorted((a, b) => b.weight - a.weight)
  const scored = [...chunks].map(([key, chunk]) => ({
    key,
    score: weights.reduce((score, { word, weight }) => {
      const count = chunk[word] ?? 0
      return score + (count > 0 ? (weight * count) / (count + norm(key)) : 0)
    }, 0),
  }))
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.key - b.key)
    .slice(0, limit)
}
