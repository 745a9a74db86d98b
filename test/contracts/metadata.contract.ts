import { everything, narrowed } from '@agent-server/lib/visibility.ts'
import type { Filter, Metadata } from '@agent-server/schemas/metadata.ts'
import { describe, expect, it } from 'vitest'
import { takes } from '../../packages/search/test/contracts/takes.ts'
import { createRandom } from '../support/random.ts'
import type { StoreFixture } from './document-store.fixture.ts'
import { randomFilter, randomMetadata } from './metadata.fixture.ts'

/** The part of the document store's contract that finds and lists chunks by their documents. */
export function describeChunkLists(on: StoreFixture): void {
  const list = (limit: number, cursor?: string) =>
    on.store.listChunks(everything(), { documentId: 'a', limit, cursor })
  const textsOf = (page: Awaited<ReturnType<typeof list>>) => page?.chunks.map(({ text }) => text)

  describe('the chunks of a document', () => {
    it('are listed in their order, page after page', async () => {
      await on.add('a')
      await on.add('b')
      await on.ingest('one', 'two', 'three', 'four')
      await on.ingest('of b')
      const first = await list(2)
      const second = await list(2, first?.nextCursor)
      expect([textsOf(first), textsOf(second)]).toEqual([
        ['one', 'two'],
        ['three', 'four'],
      ])
      expect(second?.nextCursor).toBeUndefined()
      expect(first?.chunks[0]).toMatchObject({ id: 'a-1-0', documentId: 'a' })
    })

    it('are none before the document is ready, and nothing where there is no document', async () => {
      expect(await list(5)).toBeUndefined()
      await on.add('a')
      expect(await list(5)).toEqual({ chunks: [], nextCursor: undefined })
    })

    it('are not read on across a replacement', async () => {
      await on.add('a')
      await on.ingest('one', 'two')
      const { nextCursor } = (await list(1)) ?? {}
      await on.replaceContent('a', 'New')
      expect(textsOf(await list(1, nextCursor))).toEqual(['two'])
      const job = await on.claim()
      await on.store.completeJob(job, await on.chunksOf('new one', 'new two'))
      const refused = { code: 'invalid_request', param: 'cursor' }
      await expect(list(1, nextCursor)).rejects.toMatchObject(refused)
      await expect(list(1, 'nonsense')).rejects.toMatchObject(refused)
    })
  })

  describe('metadata', () => {
    /** Ready documents with one chunk each; answers the ids by the chunks' keys. */
    const addReady = async (all: readonly (Metadata | undefined)[]) => {
      const ids = new Map<number, number>()
      for (const [position, metadata] of all.entries()) {
        await on.store.add({ id: `document-${position}`, text: 'x', metadata })
        for (const key of await on.ingest(`x${position}`)) ids.set(key, position)
      }
      return async (filter: Filter) =>
        [...(await on.store.visibleKeys(narrowed(everything(), filter)))].map((key) => ids.get(key))
    }

    it('is kept with its kinds, on the document and on its chunks', async () => {
      const metadata = {
        word: 'Grüße 👋',
        count: 1,
        half: 0.5,
        large: 2 ** 53,
        yes: true,
        no: false,
      }
      expect(await on.store.add({ id: 'a', text: 'x', metadata })).toMatchObject({ metadata })
      const keys = await on.ingest('x')
      await on.reopen()
      expect(await on.store.get(everything(), 'a')).toMatchObject({ metadata })
      expect((await on.store.readChunks(everything(), keys)).chunks).toMatchObject([{ metadata }])
    })

    it('tells true, 1 and "1" apart', async () => {
      const matching = await addReady([{ x: true }, { x: 1 }, { x: '1' }, {}, undefined])
      expect(await matching({ field: 'x', eq: true })).toEqual([0])
      expect(await matching({ field: 'x', eq: 1 })).toEqual([1])
      expect(await matching({ field: 'x', eq: '1' })).toEqual([2])
      expect(await matching({ field: 'x', in: [1, '1'] })).toEqual([1, 2])
      expect(await matching({ field: 'x', gte: 0 })).toEqual([1])
      expect(await matching({ not: { field: 'x', eq: 1 } })).toEqual([0, 2, 3, 4])
    })

    it('of a replaced document is that of the revision which is served', async () => {
      await on.store.add({ id: 'a', text: 'x', metadata: { year: 1 } })
      const old = await on.ingest('old')
      await on.store.put(everything(), { id: 'a', text: 'y', metadata: { year: 2, more: true } })
      expect([
        ...(await on.store.visibleKeys(narrowed(everything(), { field: 'year', eq: 1 }))),
      ]).toEqual(old)
      expect([
        ...(await on.store.visibleKeys(narrowed(everything(), { field: 'year', eq: 2 }))),
      ]).toEqual([])
      const job = await on.claim()
      const [chunk] = await on.chunksOf('new')
      await on.store.completeJob(job, chunk ? [chunk] : [])
      expect([
        ...(await on.store.visibleKeys(narrowed(everything(), { field: 'year', eq: 1 }))),
      ]).toEqual([])
      expect([
        ...(await on.store.visibleKeys(narrowed(everything(), { field: 'year', eq: 2 }))),
      ]).toEqual([chunk?.key])
      await on.store.delete(everything(), 'a')
      expect([
        ...(await on.store.visibleKeys(narrowed(everything(), { field: 'more', eq: true }))),
      ]).toEqual([])
    })

    it('is filtered as a look at every document would', async () => {
      const random = createRandom(7)
      const all = Array.from({ length: 60 }, () => randomMetadata(random))
      const matching = await addReady(all)
      let found = 0
      for (let turn = 0; turn < 300; turn++) {
        const filter = randomFilter(random, 3)
        const expected = [...all.keys()].filter((position) => takes(filter, all[position] ?? {}))
        expect([JSON.stringify(filter), await matching(filter)]).toEqual([
          JSON.stringify(filter),
          expected,
        ])
        found += expected.length
      }
      expect(found).toBeGreaterThan(1_000)
    })
  })
}
