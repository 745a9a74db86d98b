import type { Reranker } from '@agent-server/models'
import { describe, expect, it } from 'vitest'

export interface RerankerCase {
  create(): Promise<Reranker>
}

const { signal } = new AbortController()

/** What retrieval relies on, whichever model is behind it. */
export function describeReranker(name: string, { create }: RerankerCase): void {
  describe(`${name} as a reranker`, () => {
    it('gives one score from 0 to 1 per text, in the order of the texts', async () => {
      const texts = Array.from({ length: 100 }, (_, i) => `text number ${i} about topic ${i % 7}`)
      const scores = await (await create()).rerank({ query: 'topic', texts }, signal)
      expect(scores).toHaveLength(100)
      for (const score of scores) {
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
      }
    })

    it('scores the answer above something else, wherever it stands', async () => {
      const answer = 'the library opens at nine'
      const other = 'boundary layer of a flat plate'
      const reranker = await create()
      for (const texts of [
        [answer, other],
        [other, answer],
      ]) {
        const scores = await reranker.rerank({ query: 'when does the library open', texts }, signal)
        const [best] = texts.toSorted(
          (a, b) => (scores[texts.indexOf(b)] ?? 0) - (scores[texts.indexOf(a)] ?? 0),
        )
        expect(best).toBe(answer)
      }
    })

    it('returns nothing for an empty input', async () => {
      expect(await (await create()).rerank({ query: 'a', texts: [] }, signal)).toEqual([])
    })

    it('takes a question and a text much longer than any window', async () => {
      const reranker = await create()
      const texts = ['word '.repeat(50_000), 'other '.repeat(50_000)]
      const scores = await reranker.rerank({ query: 'why '.repeat(5_000), texts }, signal)
      expect(scores).toEqual([expect.any(Number), expect.any(Number)])
    })

    it('throws the reason of a signal that was aborted before', async () => {
      const reason = new Error('left')
      const reranking = (await create()).rerank(
        { query: 'a', texts: ['b'] },
        AbortSignal.abort(reason),
      )
      await expect(reranking).rejects.toBe(reason)
    })
  })
}
