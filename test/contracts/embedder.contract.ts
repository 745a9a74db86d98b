import type { Embedder } from '@agent-server/models'
import { describe, expect, it } from 'vitest'

export interface EmbedderCase {
  create(): Promise<Embedder>
}

const { signal } = new AbortController()

/** What ingestion and retrieval rely on, whichever model is behind it. */
export function describeEmbedder(name: string, { create }: EmbedderCase): void {
  describe(`${name} as an embedder`, () => {
    it('gives one unit vector per text, in the order of the texts', async () => {
      const embedder = await create()
      const texts = Array.from({ length: 100 }, (_, i) => `text number ${i} about topic ${i % 7}`)
      const together = await embedder.embedDocuments(texts, signal)
      expect(together).toHaveLength(100)
      for (const vector of together) expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
      const [alone] = await embedder.embedDocuments(['text number 42 about topic 0'], signal)
      expect(cosine(alone, together[42])).toBeGreaterThan(0.999)
    })

    it('knows its dimension from the first vector on', async () => {
      const embedder = await create()
      const vector = await embedder.embedQuery('hello', signal)
      expect(embedder.dimension).toBe(vector.length)
      const [other] = await embedder.embedDocuments(['something else entirely'], signal)
      expect(other).toHaveLength(vector.length)
    })

    it('returns nothing for an empty input', async () => {
      expect(await (await create()).embedDocuments([], signal)).toEqual([])
    })

    it('puts a question nearer to its answer than to something else', async () => {
      const embedder = await create()
      const question = await embedder.embedQuery('library opening hours', signal)
      const [answer, other] = await embedder.embedDocuments(
        ['the opening hours of the library', 'boundary layer of a flat plate'],
        signal,
      )
      expect(cosine(question, answer)).toBeGreaterThan(cosine(question, other))
    })

    it('embeds a text much longer than any window', async () => {
      const [vector] = await (await create()).embedDocuments(['word '.repeat(5_000)], signal)
      expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 4)
    })

    it('throws the reason of a signal that was aborted before', async () => {
      const embedder = await create()
      const reason = new Error('left')
      await expect(embedder.embedQuery('a', AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(embedder.embedDocuments(['a'], AbortSignal.abort(reason))).rejects.toBe(reason)
    })
  })
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) return Number.NaN
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}
