import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { countsOf, FAILURE, type StoreFixture } from './document-store.fixture.ts'

/** The part of the document store's contract that deals with repeated requests and with new content for a known id. */
export function describeReplacement(on: StoreFixture): void {
  const OLD = { id: 'a', text: 'Old', title: 'Old title', url: 'https://old.example' }
  const NEW = { id: 'a', text: 'New text', title: 'New title', metadata: { year: 2026 } }

  describe('a document put in', () => {
    it('is added where its id is new', async () => {
      expect(await on.store.put(everything(), NEW)).toMatchObject({
        id: 'a',
        status: 'pending',
        revision: 1,
        servedRevision: undefined,
        title: 'New title',
        metadata: { year: 2026 },
        characters: 8,
      })
      await on.ingest('new')
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'ready',
        servedRevision: 1,
      })
    })

    it('is described as before until the new chunks come, and then as the new one, all at once', async () => {
      await on.store.add(OLD)
      const old = await on.ingest('old')
      const before = {
        title: 'Old title',
        url: 'https://old.example',
        metadata: undefined,
        characters: 3,
        chunkCount: 1,
        servedRevision: 1,
      }
      expect(await on.store.put(everything(), NEW)).toMatchObject({
        ...before,
        status: 'pending',
        revision: 2,
      })
      const job = await on.claim()
      expect(job).toMatchObject({ revision: 2, title: 'New title', url: undefined })
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        ...before,
        status: 'processing',
      })
      expect((await on.store.readChunks(everything(), old)).chunks).toMatchObject([
        { title: 'Old title', url: 'https://old.example', metadata: undefined },
      ])

      const chunks = await on.chunksOf('new', 'text')
      await on.store.completeJob(job, chunks)
      const after = { title: 'New title', url: undefined, metadata: { year: 2026 } }
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        ...after,
        status: 'ready',
        characters: 8,
        chunkCount: 2,
        revision: 2,
        servedRevision: 2,
      })
      const keys = chunks.map(({ key }) => key)
      expect((await on.store.readChunks(everything(), [...old, ...keys])).chunks).toMatchObject([
        after,
        after,
      ])
    })

    it.each([
      ['the one of before', ['user:bob', 'user:eve'], ['user:bob']],
      ['the collection', undefined, []],
    ])(
      'with a list of its own takes rights that %s gave at once, and gives none yet',
      async (_case, before, kept) => {
        await on.store.add({ ...OLD, access: before })
        await on.ingest('old')
        await on.store.put(everything(), { ...NEW, access: ['user:bob', 'user:zoe'] })
        expect(await on.store.get(everything(), 'a')).toMatchObject({ access: kept })
        await on.store.completeJob(await on.claim(), await on.chunksOf('new'))
        const after = { access: ['user:bob', 'user:zoe'], servedRevision: 2 }
        expect(await on.store.get(everything(), 'a')).toMatchObject(after)
      },
    )

    it('whose replacement fails is served as it was, says so, and can be retried', async () => {
      await on.store.add(OLD)
      const old = await on.ingest('old')
      await on.store.put(everything(), NEW)
      await on.store.failJob(await on.claim(), FAILURE)
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'failed',
        error: FAILURE,
        revision: 2,
        servedRevision: 1,
        title: 'Old title',
        chunkCount: 1,
      })
      expect((await on.store.readChunks(everything(), old)).chunks).toHaveLength(1)
      await on.store.retry(everything(), 'a')
      expect(await on.claim()).toMatchObject({ text: 'New text', title: 'New title', attempt: 1 })
    })

    it('again supersedes the replacement that is under way, and waits once', async () => {
      await on.store.add(OLD)
      const old = await on.ingest('old')
      await on.store.put(everything(), NEW)
      const stale = await on.claim()
      await on.store.put(everything(), { id: 'a', text: 'Newest' })
      expect(await on.store.counts()).toEqual(countsOf({ pending: 1, chunks: 1, jobs: 1 }))
      expect(await on.store.completeJob(stale, await on.chunksOf('new'))).toBeUndefined()
      expect((await on.store.readChunks(everything(), old)).chunks).toHaveLength(1)
      const job = await on.claim()
      expect(job).toMatchObject({ revision: 3, attempt: 1, text: 'Newest', title: undefined })
      expect(await on.store.completeJob(job, await on.chunksOf('newest'))).toEqual(old)
    })

    it('survives a restart half replaced', async () => {
      await on.store.add(OLD)
      await on.ingest('old')
      await on.store.put(everything(), NEW)
      await on.claim()
      await on.reopen()
      await on.store.recoverJobs()
      expect(await on.claim()).toMatchObject({ text: 'New text', title: 'New title', attempt: 2 })
    })

    it('is deleted with its replacement', async () => {
      await on.store.add(OLD)
      const old = await on.ingest('old')
      await on.store.put(everything(), NEW)
      expect(await on.store.delete(everything(), 'a')).toEqual(old)
      expect(await on.store.counts()).toEqual(countsOf({}))
      expect(await on.store.put(everything(), OLD)).toMatchObject({
        revision: 1,
        title: 'Old title',
      })
    })

    it('finds no place in a full queue, unless it waits there already', async () => {
      await on.reopen(1)
      await on.store.add(OLD)
      await on.ingest('old')
      await on.add('b')
      await expect(on.store.put(everything(), NEW)).rejects.toMatchObject({ code: 'queue_full' })
      expect(await on.store.get(everything(), 'a')).toMatchObject({ status: 'ready', revision: 1 })
      expect(await on.store.put(everything(), { id: 'b', text: 'Other' })).toMatchObject({
        revision: 2,
      })
    })
  })

  describe('a document added with an idempotency key', () => {
    const idempotency = { key: 'key', digest: 'of a' }

    it('is answered to whoever comes with the key again, also after a restart', async () => {
      const added = await on.store.add({ id: 'a', text: 'x' }, idempotency)
      await on.reopen()
      expect(await on.store.add({ id: 'b', text: 'x' }, idempotency)).toEqual(added)
      expect(await on.store.hasKey('key')).toBe(true)
      expect(await on.store.hasKey('other')).toBe(false)
      expect(await on.store.get(everything(), 'b')).toBeUndefined()
      await on.ingest('x')
      expect(await on.store.add({ id: 'c', text: 'x' }, idempotency)).toMatchObject({
        id: 'a',
        status: 'ready',
      })
      expect(await on.store.counts()).toEqual(countsOf({ ready: 1, chunks: 1 }))
    })

    it('is added once, however many come at the same time', async () => {
      const ids = Array.from({ length: 20 }, (_, position) => `a${position}`)
      const all = await Promise.all(ids.map((id) => on.store.add({ id, text: 'x' }, idempotency)))
      expect(new Set(all.map(({ id }) => id)).size).toBe(1)
      expect(await on.store.counts()).toMatchObject({ jobs: 1 })
    })

    it('is answered also while the queue is full', async () => {
      await on.reopen(1)
      await on.store.add({ id: 'a', text: 'x' }, idempotency)
      expect(await on.store.add({ id: 'b', text: 'x' }, idempotency)).toMatchObject({ id: 'a' })
    })

    it('refuses the key for anything else', async () => {
      await on.store.add({ id: 'a', text: 'x' }, idempotency)
      const other = on.store.add({ id: 'b', text: 'y' }, { ...idempotency, digest: 'of b' })
      await expect(other).rejects.toMatchObject({ code: 'idempotency_conflict' })
      expect(await on.store.get(everything(), 'b')).toBeUndefined()
    })

    it('frees the key when it is deleted; one that was refused has not taken it', async () => {
      await on.reopen(1)
      await on.add('full')
      await expect(on.store.add({ id: 'a', text: 'x' }, idempotency)).rejects.toThrow()
      await on.store.delete(everything(), 'full')
      await on.store.add({ id: 'b', text: 'x' }, idempotency)
      await on.store.delete(everything(), 'b')
      expect(await on.store.add({ id: 'c', text: 'x' }, idempotency)).toMatchObject({ id: 'c' })
    })
  })
}
