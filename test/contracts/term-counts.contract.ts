import { describe, expect, it } from 'vitest'
import type { CountedTerms, TermCounts } from '../../src/stores/term-counts.ts'
import type { StoreFixture } from './document-store.fixture.ts'

const ANALYSER = 'english-1'

/** Of chunks that together have as many terms as they hold. */
function countsOf(chunks: number, holding: Record<number, number>): CountedTerms {
  const [terms, counts] = [Object.keys(holding).map(Number), Object.values(holding)]
  const length = counts.reduce((sum, count) => sum + count, 0)
  return {
    ...{ analyser: ANALYSER, chunks, length },
    ...{ terms: Uint32Array.from(terms), holding: Int32Array.from(counts) },
  }
}

/** The part of the document store's contract that the weights of words live on. */
export function describeTermCountStore(on: StoreFixture): void {
  const complete = async (counted?: CountedTerms) => {
    const job = await on.claim()
    await on.store.completeJob(job, await on.chunksOf('one'), undefined, counted)
  }
  const statistics = async (analyser = ANALYSER) => {
    const { terms } = on.store
    const entries = await terms.readEntries(await terms.entries(analyser))
    const holding: Record<string, number> = {}
    const total = { chunks: 0, length: 0, holding }
    const enter = ({ chunks, length, terms, holding: counts }: TermCounts) => {
      total.chunks += chunks
      total.length += length
      terms.forEach((term, i) => {
        holding[term] = (holding[term] ?? 0) + (counts[i] ?? 0)
      })
    }
    entries.forEach(enter)
    for (const [term, count] of Object.entries(holding)) if (count === 0) delete holding[term]
    return total
  }

  describe('the terms of documents', () => {
    it('are counted with their chunks, and no more when these are replaced or removed', async () => {
      await on.add('a')
      await complete(countsOf(2, { 7: 2, 4294967290: 1 }))
      await on.add('b')
      await complete(countsOf(300, { 7: 300, 9: 1 }))
      const both = { chunks: 302, length: 304, holding: { 7: 302, 9: 1, 4294967290: 1 } }
      expect(await statistics()).toEqual(both)
      await on.replaceContent('b', 'other')
      expect(await statistics()).toEqual(both)
      await complete(countsOf(1, { 8: 1 }))
      expect(await statistics()).toEqual({
        ...{ chunks: 3, length: 4 },
        holding: { 7: 2, 8: 1, 4294967290: 1 },
      })
      await on.store.delete('a')
      expect(await statistics()).toEqual({ chunks: 1, length: 1, holding: { 8: 1 } })
      await on.reopen()
      expect(await statistics()).toEqual({ chunks: 1, length: 1, holding: { 8: 1 } })
    })

    it('are not counted where the claim is no longer current', async () => {
      await on.add('a')
      const job = await on.claim()
      await on.replaceContent('a', 'other')
      const chunks = await on.chunksOf('one')
      const counted = countsOf(1, { 7: 1 })
      await on.store.completeJob(job, chunks, undefined, counted)
      expect(await statistics()).toMatchObject({ chunks: 0 })
    })

    it('are counted afterwards, once, where nobody did or another server has replaced the document', async () => {
      const { terms } = on.store
      await on.add('a')
      await complete()
      await on.add('waiting')
      const [found, ...others] = await terms.uncounted(ANALYSER, 0, 9)
      expect([found?.id, found?.revision, others]).toEqual(['a', 1, []])
      expect(await terms.uncounted(ANALYSER, found?.number ?? 0, 9)).toEqual([])
      const counted = countsOf(1, { 7: 1 })
      await terms.count({ id: 'a', revision: 2 }, counted)
      await terms.count({ id: 'gone', revision: 1 }, counted)
      expect(await statistics()).toMatchObject({ chunks: 0 })
      await terms.count({ id: 'a', revision: 1 }, counted)
      await terms.count({ id: 'a', revision: 1 }, counted)
      expect(await statistics()).toMatchObject({ chunks: 1 })
      expect(await terms.uncounted(ANALYSER, 0, 9)).toEqual([])
      expect(await terms.uncounted('german-1', 0, 9)).toHaveLength(1)
      expect(await statistics('german-1')).toMatchObject({ chunks: 0 })
    })

    it('are folded into one sum, unless another server was faster', async () => {
      const { terms } = on.store
      await on.add('a')
      await complete(countsOf(2, { 7: 2 }))
      await on.store.delete('a')
      await on.add('b')
      await complete(countsOf(3, { 7: 3 }))
      const numbers = await terms.entries(ANALYSER)
      expect(numbers).toHaveLength(3)
      const sum = countsOf(3, { 7: 3, 9: -1 })
      const folded = await terms.fold(numbers, sum)
      expect(await terms.entries(ANALYSER)).toEqual([folded])
      expect(numbers).not.toContain(folded)
      expect(await terms.fold(numbers, sum)).toBeUndefined()
      expect(await statistics()).toEqual({ chunks: 3, length: 2, holding: { 7: 3, 9: -1 } })
      expect(await terms.readEntries(numbers)).toEqual([])
    })
  })
}
