import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore } from '@agent-server/stores'
import { beforeEach, describe, expect, it } from 'vitest'
import { describeBoundedChanges } from './bounded-changes.contract.ts'
import { describeChunkContexts } from './chunk-contexts.contract.ts'
import { countsOf, FAILURE, useStore } from './document-store.fixture.ts'
import { describeFiles } from './files.contract.ts'
import { describeIngestionQueue } from './ingestion-queue.contract.ts'
import { describeChunkLists } from './metadata.contract.ts'
import { openStore, type StoreData } from './open-store.ts'
import { describePatchedMetadata } from './patched-metadata.contract.ts'
import { describeReplacement } from './replacement.contract.ts'
import { describeSearchedLists } from './searched-lists.contract.ts'
import { describeSources } from './sources.contract.ts'
import { describeStoredVectors } from './stored-vectors.contract.ts'
import { describeVisibility } from './visibility.contract.ts'

/** What every document store does: the sentences of `DocumentStore`, one by one. */
export function describeDocumentStore(name: string, createData: () => Promise<StoreData>): void {
  describe(name, () => {
    const on = useStore(createData)

    const listIds = async (page: Parameters<DocumentStore['list']>[1]) => {
      const { documents, nextCursor } = await on.store.list(everything(), page)
      return { ids: documents.map(({ id }) => id), nextCursor }
    }

    describe('documents', () => {
      it('stores a document as pending, with everything it was given', async () => {
        const before = Date.now()
        const added = await on.store.add({
          id: 'a',
          text: 'Grüße 👋',
          title: 'Title',
          url: 'https://a.example',
        })
        expect(added).toEqual({
          id: 'a',
          title: 'Title',
          url: 'https://a.example',
          metadata: undefined,
          file: undefined,
          status: 'pending',
          error: undefined,
          attempts: 0,
          revision: 1,
          servedRevision: undefined,
          chunkCount: 0,
          characters: 8,
          createdAt: added.updatedAt,
          updatedAt: expect.any(Number),
        })
        expect(added.createdAt).toBeGreaterThanOrEqual(before)
        expect(added.createdAt).toBeLessThanOrEqual(Date.now())
        expect(await on.store.get(everything(), 'a')).toEqual(added)
      })

      it('keeps a document without title and url as one without', async () => {
        expect(await on.add('a')).toMatchObject({ title: undefined, url: undefined })
      })

      it('answers nothing for a document that does not exist', async () => {
        expect(await on.store.get(everything(), 'missing')).toBeUndefined()
      })

      it('refuses a second document with the same id and keeps the first', async () => {
        await on.add('a', 'first')
        await expect(on.add('a', 'second, longer')).rejects.toThrow()
        expect(await on.store.get(everything(), 'a')).toMatchObject({ characters: 5 })
        expect(await on.store.counts()).toMatchObject({ jobs: 1 })
      })

      it('keeps what was acknowledged when it is closed and opened again', async () => {
        const added = await on.add('a')
        await on.reopen()
        expect(await on.store.get(everything(), 'a')).toEqual(added)
        expect(await on.claim()).toMatchObject({ documentId: 'a', text: 'Text of a' })
      })

      it.each([
        ['a NUL', 'before\0after'],
        ['characters beyond the basic plane', '👩‍🔬 𝒳 end'],
        ['line ends of every kind', 'a\r\nb\rc\u2028d'],
        ['an empty text', ''],
      ])('keeps %s in a text', async (_what, text) => {
        expect(await on.add('a', text)).toMatchObject({ characters: text.length })
        const job = await on.claim()
        expect(job.text).toBe(text)
        await on.store.completeJob(job, await on.chunksOf(text))
        const keys = [...(await on.store.chunkKeys())]
        expect((await on.store.readChunks(everything(), keys)).chunks).toMatchObject([{ text }])
      })

      it('replaces a lone surrogate by one character, so that offsets stay right', async () => {
        await on.add('a', 'x\ud800y')
        expect((await on.claim()).text).toBe('x\ufffdy')
      })
    })

    describe('the list', () => {
      beforeEach(async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await on.add(id)
      })

      it('is newest first, page after page, and ends', async () => {
        const first = await listIds({ limit: 2 })
        const second = await listIds({ limit: 2, cursor: first.nextCursor })
        const third = await listIds({ limit: 2, cursor: second.nextCursor })
        expect([first.ids, second.ids, third.ids]).toEqual([['e', 'd'], ['c', 'b'], ['a']])
        expect(third.nextCursor).toBeUndefined()
      })

      it('has no further page after one that holds exactly the rest', async () => {
        expect(await listIds({ limit: 5 })).toEqual({
          ids: ['e', 'd', 'c', 'b', 'a'],
          nextCursor: undefined,
        })
      })

      it('neither repeats nor skips when documents come and go between two pages', async () => {
        const first = await listIds({ limit: 2 })
        await on.add('f')
        await on.store.delete(everything(), 'd')
        await on.store.delete(everything(), 'b')
        expect((await listIds({ limit: 2, cursor: first.nextCursor })).ids).toEqual(['c', 'a'])
      })

      it('shows one status only when asked, across pages', async () => {
        await on.ingest('of a')
        await on.ingest('of b')
        const ready = await listIds({ limit: 1, status: 'ready' })
        expect(ready.ids).toEqual(['b'])
        const rest = await listIds({ limit: 1, status: 'ready', cursor: ready.nextCursor })
        expect(rest).toEqual({ ids: ['a'], nextCursor: undefined })
        expect((await listIds({ limit: 9, status: 'pending' })).ids).toEqual(['e', 'd', 'c'])
        expect((await listIds({ limit: 9, status: 'failed' })).ids).toEqual([])
      })

      it.each(['', 'nonsense', 'MQ', '12', '%00', 'x'.repeat(10_000)])(
        'refuses the cursor %.20j, naming the field',
        async (cursor) => {
          await expect(on.store.list(everything(), { limit: 2, cursor })).rejects.toMatchObject({
            code: 'invalid_request',
            param: 'cursor',
          })
        },
      )
    })

    describeSearchedLists(on)
    describeBoundedChanges(on)
    describePatchedMetadata(on)

    describe('deletion', () => {
      it('removes document, chunks and job, answering the keys of the chunks', async () => {
        await on.add('a')
        const keys = await on.ingest('one', 'two')
        await on.add('b')
        expect(new Set(await on.store.delete(everything(), 'a'))).toEqual(new Set(keys))
        expect(await on.store.get(everything(), 'a')).toBeUndefined()
        expect((await on.store.readChunks(everything(), keys)).chunks).toEqual([])
        expect(await on.store.chunkKeys()).toHaveLength(0)
        expect(await on.store.delete(everything(), 'b')).toEqual([])
        expect(await on.store.claimJobs(9)).toEqual([])
        expect(await on.store.counts()).toEqual(countsOf({}))
      })

      it('answers nothing for a document that does not exist', async () => {
        expect(await on.store.delete(everything(), 'missing')).toBeUndefined()
      })

      it('lets an id be used again', async () => {
        await on.add('a')
        await on.store.delete(everything(), 'a')
        expect(await on.add('a')).toMatchObject({ id: 'a', status: 'pending' })
      })
    })

    describe('chunks', () => {
      it('come with the completed job, which makes the document ready', async () => {
        await on.store.add({ id: 'a', text: 'A text', title: 'Title', url: 'https://a.example' })
        const job = await on.claim()
        const chunks = await on.chunksOf('one', 'two')
        expect(await on.store.completeJob(job, chunks)).toEqual([])
        expect(await on.store.get(everything(), 'a')).toMatchObject({
          status: 'ready',
          chunkCount: 2,
          attempts: 1,
        })
        expect(
          (
            await on.store.readChunks(
              everything(),
              chunks.map(({ key }) => key),
            )
          ).chunks,
        ).toEqual(
          chunks.map((chunk) => ({
            ...chunk,
            id: `a-1-${chunk.ordinal}`,
            documentId: 'a',
            title: 'Title',
            url: 'https://a.example',
          })),
        )
      })

      it('are read in the order of the keys, without those that do not exist', async () => {
        await on.add('a')
        const [one = 0, two = 0, three = 0] = await on.ingest('one', 'two', 'three')
        const wanted = [three, 4_000_000_000, one, two]
        const { chunks, missing } = await on.store.readChunks(everything(), wanted)
        expect(chunks.map(({ text }) => text)).toEqual(['three', 'one', 'two'])
        expect(missing).toEqual([4_000_000_000])
        expect(await on.store.readChunks(everything(), [])).toEqual({ chunks: [], missing: [] })
      })

      it('are read in full however many keys are asked for', async () => {
        await on.add('a')
        const keys = await on.ingest(
          ...Array.from({ length: 1_201 }, (_, position) => `${position}`),
        )
        const { chunks } = await on.store.readChunks(everything(), keys.toReversed())
        expect(chunks.map(({ key }) => key)).toEqual(keys.toReversed())
      })

      it('have their keys listed in ascending order', async () => {
        await on.add('a')
        await on.add('b')
        expect([...(await on.store.chunkKeys())]).toEqual([])
        const [first, second] = await on.store.claimJobs(2)
        const [low, high] = [await on.chunksOf('one', 'two'), await on.chunksOf('three')]
        if (!first || !second) throw new Error('Both documents should be due')
        await on.store.completeJob(first, high)
        await on.store.completeJob(second, low)
        const keys = [...low, ...high].map(({ key }) => key)
        expect([...(await on.store.chunkKeys())]).toEqual(keys)
      })

      it('of an earlier revision serve until the new ones come, and go in that same step', async () => {
        await on.add('a')
        const old = await on.ingest('old one', 'old two')
        await on.replaceContent('a', 'New text')
        expect((await on.store.readChunks(everything(), old)).chunks).toHaveLength(2)

        const job = await on.claim()
        expect(job).toMatchObject({ revision: 2, attempt: 1, text: 'New text' })
        const chunks = await on.chunksOf('new')
        expect(new Set(await on.store.completeJob(job, chunks))).toEqual(new Set(old))
        expect((await on.store.readChunks(everything(), old)).chunks).toEqual([])
        const keys = chunks.map(({ key }) => key)
        expect((await on.store.readChunks(everything(), keys)).chunks).toMatchObject([
          { id: 'a-2-0', text: 'new' },
        ])
        expect(await on.store.counts()).toEqual(countsOf({ ready: 1, chunks: 1 }))
      })
    })

    describe('chunk keys', () => {
      it('are reserved in runs that never overlap, not even after a restart', async () => {
        const sizes = [1, 3, 4_095, 2, 10_000, 7, 4_096, 1]
        const reserve = () =>
          Promise.all(
            sizes.map(async (size) => {
              const first = await on.store.reserveChunkKeys(size)
              return { first, end: first + size }
            }),
          )
        const runs = await reserve()
        await on.reopen()
        runs.push(...(await reserve()))
        runs.sort((one, other) => one.first - other.first)
        for (const [position, { first, end }] of runs.entries()) {
          expect(first).toBeGreaterThanOrEqual(runs[position - 1]?.end ?? 1)
          expect(end).toBeLessThan(2 ** 32)
        }
      })

      it.each([0, -1, 1.5, Number.NaN])('cannot be reserved %d at a time', async (count) => {
        await expect(on.store.reserveChunkKeys(count)).rejects.toThrow(RangeError)
      })
    })

    describe('operation', () => {
      it('counts documents by status, chunks and jobs', async () => {
        for (const id of ['a', 'b', 'c', 'd']) await on.add(id)
        await on.ingest('one', 'two')
        await on.store.failJob(await on.claim(), FAILURE)
        await on.claim()
        expect(await on.store.counts()).toEqual(
          countsOf({ ready: 1, failed: 1, processing: 1, pending: 1, chunks: 2, jobs: 2 }),
        )
      })

      it('has the same identity after a restart, different from every other store', async () => {
        const identity = await on.store.identity()
        await on.reopen()
        expect(await on.store.identity()).toBe(identity)
        const { store: other } = await openStore(createData)
        expect(await other.identity()).not.toBe(identity)
      })

      it('passes its check while it can read and write', async () => {
        await expect(on.store.check(AbortSignal.timeout(5_000))).resolves.toBeUndefined()
      })

      it('fails its check when it takes longer than it may', async () => {
        await expect(on.store.check(AbortSignal.abort())).rejects.toMatchObject({
          code: 'store_unavailable',
        })
      })

      it('finishes the writes under way when it closes, and may be closed twice', async () => {
        const adding = Promise.all(
          Array.from({ length: 20 }, (_, position) => on.add(`a${position}`)),
        )
        await Promise.all([on.store.close(), on.store.close()])
        expect(await adding).toHaveLength(20)
        await on.reopen()
        expect(await on.store.counts()).toMatchObject({ jobs: 20 })
      })

      it('answers that it is unavailable once closed', async () => {
        await on.close()
        const calls = [
          () => on.add('a'),
          () => on.store.get(everything(), 'a'),
          () => on.store.counts(),
        ]
        for (const call of calls) {
          await expect(call()).rejects.toMatchObject({ code: 'store_unavailable' })
        }
      })
    })

    describeReplacement(on)
    describeSources(on)
    describeFiles(on)
    describeChunkLists(on)
    describeIngestionQueue(on)
    describeStoredVectors(on)
    describeChunkContexts(on)
    describeVisibility(on)
  })
}
