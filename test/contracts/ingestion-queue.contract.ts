import { everything } from '@agent-server/lib/visibility.ts'
import type { IngestionJob } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { countsOf, FAILURE, type StoreFixture } from './document-store.fixture.ts'

/** The part of the document store's contract that ingestion lives on. */
export function describeIngestionQueue(on: StoreFixture): void {
  describe('the queue', () => {
    it('refuses a document when too many wait, and takes it when one is done', async () => {
      await on.reopen(2)
      await on.add('a')
      await on.add('b')
      await expect(on.add('c')).rejects.toMatchObject({
        code: 'queue_full',
        retryAfter: expect.any(Number),
      })
      expect(await on.store.get(everything(), 'c')).toBeUndefined()
      await on.ingest('of a')
      expect(await on.add('c')).toMatchObject({ status: 'pending' })
    })

    it('has room for others, and more for the operator, whatever one sender adds', async () => {
      await on.reopen(20)
      const add = (sender: string | undefined, id: string) =>
        on.store.add({ id, text: `Text of ${id}`, ...(sender && { sender }) })
      const fill = async (sender?: string) => {
        for (let taken = 0; ; taken++) {
          const refusal = await add(sender, `${sender}-${taken}`).then(
            () => undefined,
            (error: unknown) => error,
          )
          if (refusal === undefined) continue
          expect(refusal).toMatchObject({ code: 'queue_full' })
          return taken
        }
      }
      expect(await fill('greedy')).toBe(9)
      expect(await fill('modest')).toBe(5)
      expect(await fill('late')).toBe(2)
      expect(await fill()).toBe(4)
      await on.ingest('of greedy-0')
      expect(await add('late', 'after').catch(({ code }) => code)).toBe('queue_full')
    })

    it('never lets documents that come at once past its limit', async () => {
      await on.reopen(10)
      const all = Array.from({ length: 30 }, (_, position) => on.add(`document-${position}`))
      const settled = await Promise.allSettled(all)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    })

    it('hands out jobs oldest first, each once, with all that ingestion needs', async () => {
      await on.store.add({ id: 'a', text: 'Text of a', title: 'Title', url: 'https://a.example' })
      await on.add('b')
      await on.add('c')
      const jobs = await on.store.claimJobs(2)
      expect(jobs.map(({ documentId }) => documentId)).toEqual(['a', 'b'])
      expect(jobs[0]).toMatchObject({
        revision: 1,
        attempt: 1,
        title: 'Title',
        url: 'https://a.example',
        text: 'Text of a',
      })
      expect((await on.store.claimJobs(9)).map(({ documentId }) => documentId)).toEqual(['c'])
      expect(await on.store.claimJobs(9)).toEqual([])
    })

    it('lets senders take turns, whoever sent more', async () => {
      const add = (sender: string, id: string) =>
        on.store.add({ id, text: `Text of ${id}`, sender })
      const claim = async (limit: number) =>
        (await on.store.claimJobs(limit)).map(({ documentId }) => documentId)
      for (const id of ['a1', 'a2', 'a3', 'a4', 'a5']) await add('a', id)
      expect(await claim(2)).toEqual(['a1', 'a2'])
      await add('b', 'b1')
      await add('b', 'b2')
      await on.add('own')
      expect(await claim(2)).toEqual(['a3', 'b1'])
      await add('b', 'b3')
      expect(await claim(9)).toEqual(['own', 'a4', 'b2', 'a5', 'b3'])
    })

    it('leaves out the jobs of some senders, or of the operator', async () => {
      await on.store.add({ id: 'a', text: 'Text of a', sender: 'a' })
      await on.store.add({ id: 'b', text: 'Text of b', sender: 'b' })
      await on.add('own')
      const claim = async (...except: (string | undefined)[]) =>
        (await on.store.claimJobs(9, except)).map(({ documentId }) => documentId)
      expect(await claim('a', undefined)).toEqual(['b'])
      expect(await claim('a', 'b')).toEqual(['own'])
      expect(await claim()).toEqual(['a'])
    })

    it('gives a sender that comes back no advantage over who waited', async () => {
      const add = (sender: string, id: string) =>
        on.store.add({ id, text: `Text of ${id}`, sender })
      await add('b', 'b0')
      await on.ingest('of b0')
      for (const id of ['a1', 'a2', 'a3']) await add('a', id)
      await on.store.claimJobs(2)
      for (const id of ['b1', 'b2', 'b3']) await add('b', id)
      const jobs = await on.store.claimJobs(9)
      expect(jobs.map(({ documentId }) => documentId)).toEqual(['a3', 'b1', 'b2', 'b3'])
    })

    it('comes to all jobs of a sender while others send one each time the last is done', async () => {
      let sent = 0
      const add = (sender: string) => on.store.add({ id: `${sender}-${sent++}`, text: 'x', sender })
      await add('a')
      let under = await on.claim()
      for (const sender of ['b', 'c', 'c']) await add(sender)
      const done: string[] = []
      for (let claims = 0; claims < 9; claims++) {
        await on.store.completeJob(under, [])
        done.push(under.documentId)
        const [sender = ''] = under.documentId.split('-')
        under = await on.claim()
        if (sender !== 'c') await add(sender)
      }
      expect(done.slice(0, 6).filter((id) => id.startsWith('c'))).toEqual(['c-2', 'c-3'])
    })

    it('claims nothing without capacity', async () => {
      await on.add('a')
      expect(await on.store.claimJobs(0)).toEqual([])
      expect(await on.store.claimJobs(-1)).toEqual([])
    })

    it(
      'hands out long replacements of short documents a few at a time, too',
      onlyLong,
      async () => {
        for (const id of ['a', 'b']) {
          await on.add(id)
          await on.ingest(`of ${id}`)
        }
        for (const id of ['a', 'b']) {
          await on.store.put(everything(), { id, text: 'x'.repeat(12 * 2 ** 20) })
        }
        const claims = []
        for (let claim = 0; claim < 2; claim++) claims.push(await on.store.claimJobs(9))
        expect(claims.map((jobs) => jobs.map(({ documentId }) => documentId))).toEqual([
          ['a'],
          ['b'],
        ])
      },
    )

    it('hands out long documents a few at a time, but at least one', async () => {
      for (const id of ['a', 'b', 'c']) {
        await on.store.add({ id, text: 'x'.repeat(12 * 2 ** 20) })
      }
      const claims = []
      for (let claim = 0; claim < 3; claim++) claims.push(await on.store.claimJobs(9))
      expect(claims.map((jobs) => jobs.map(({ documentId }) => documentId))).toEqual([
        ['a'],
        ['b'],
        ['c'],
      ])
    })

    it('never hands a job to two that ask at once', async () => {
      for (const id of ['a', 'b', 'c', 'd']) await on.add(id)
      const claims = await Promise.all([1, 1, 1, 1, 1].map((limit) => on.store.claimJobs(limit)))
      const ids = claims.flat().map(({ documentId }) => documentId)
      expect(ids.sort()).toEqual(['a', 'b', 'c', 'd'])
    })

    it('shows a claimed document as processing, with the attempt counted', async () => {
      await on.add('a')
      await on.claim()
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'processing',
        attempts: 1,
      })
    })

    it('knows when the next job is due, claimed ones apart', async () => {
      expect(await on.store.nextJobAt()).toBeUndefined()
      await on.add('a')
      expect(await on.store.nextJobAt()).toBeLessThanOrEqual(Date.now())
      await on.claim()
      expect(await on.store.nextJobAt()).toBeUndefined()
    })

    it('has what arrives due at any time, also before a clock that is set back', async () => {
      await on.add('a')
      expect(await on.store.nextJobAt()).toBe(0)
      await on.store.failJob(await on.claim(), FAILURE)
      await on.store.retry(everything(), 'a')
      expect(await on.store.nextJobAt()).toBe(0)
      expect(await on.claim()).toMatchObject({ documentId: 'a' })
    })

    it('claims what a clock that was ahead has put off for long', async () => {
      await on.add('a')
      await on.store.failJob(await on.claim(), FAILURE, 3_600_000)
      expect(await on.claim()).toMatchObject({ documentId: 'a', attempt: 2 })
    })

    it('keeps a document that is to be retried later as pending until then, with its failure', async () => {
      await on.add('a')
      const before = Date.now()
      expect(await on.store.failJob(await on.claim(), FAILURE, 600_000)).toBe(true)
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'pending',
        error: FAILURE,
        attempts: 1,
      })
      const later = (await on.store.nextJobAt()) ?? 0
      expect(later).toBeGreaterThanOrEqual(before + 600_000)
      expect(later).toBeLessThanOrEqual(Date.now() + 600_000)
      expect(await on.store.claimJobs(1)).toEqual([])
      await on.add('b')
      expect(await on.claim()).toMatchObject({ documentId: 'b' })
    })

    it('claims a retry once it is due, as the next attempt', async () => {
      await on.add('a')
      await on.store.failJob(await on.claim(), FAILURE, 0)
      const second = await on.claim()
      expect(second).toMatchObject({ documentId: 'a', attempt: 2 })
      await on.store.completeJob(second, await on.chunksOf('of a'))
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'ready',
        error: undefined,
        attempts: 2,
      })
    })

    it('shows a document whose job failed for good as failed, with its failure', async () => {
      await on.add('a')
      expect(await on.store.failJob(await on.claim(), FAILURE)).toBe(true)
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'failed',
        error: FAILURE,
        attempts: 1,
      })
      expect(await on.store.claimJobs(1)).toEqual([])
      expect(await on.store.counts()).toEqual(countsOf({ failed: 1 }))
    })

    it('takes a failed document back, with all its attempts before it', async () => {
      await on.add('a')
      await on.store.failJob(await on.claim(), FAILURE)
      expect(await on.store.retry(everything(), 'a')).toMatchObject({
        id: 'a',
        status: 'pending',
        error: undefined,
        attempts: 0,
      })
      expect(await on.claim()).toMatchObject({ documentId: 'a', attempt: 1, text: 'Text of a' })
    })

    it('shows when its document last changed', async () => {
      await on.add('a')
      let job = { documentId: 'a', claim: 0 }
      const now = () => Date.now()
      const claim = async () => {
        job = await on.claim()
      }
      const steps: (() => Promise<unknown>)[] = [
        claim,
        () => on.store.releaseJob(job),
        claim,
        () => on.store.failJob(job, FAILURE, 0),
        claim,
        () => on.store.failJob(job, FAILURE),
        () => on.store.retry(everything(), 'a'),
        claim,
        () => on.store.completeJob(job, []),
        () => on.replaceContent('a', 'New'),
      ]
      for (const step of steps) {
        const { updatedAt = 0 } = (await on.store.get(everything(), 'a')) ?? {}
        await expect.poll(now, { interval: 1 }).toBeGreaterThan(updatedAt)
        await step()
        expect((await on.store.get(everything(), 'a'))?.updatedAt).toBeGreaterThan(updatedAt)
      }
    })

    it('refuses to retry what has not failed or does not exist', async () => {
      await on.add('a')
      await expect(on.store.retry(everything(), 'a')).rejects.toMatchObject({
        code: 'document_not_failed',
      })
      await expect(on.store.retry(everything(), 'missing')).rejects.toMatchObject({
        code: 'document_not_found',
      })
    })

    it('takes a released job back without counting the attempt, in its old place', async () => {
      await on.add('a')
      await on.add('b')
      await on.store.releaseJob(await on.claim())
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'pending',
        attempts: 0,
      })
      expect(await on.claim()).toMatchObject({ documentId: 'a', attempt: 1 })
    })

    it('takes back the claims of an earlier process, their attempts counted', async () => {
      for (const id of ['a', 'b', 'c']) await on.add(id)
      await on.store.claimJobs(2)
      await on.reopen()
      expect((await on.store.get(everything(), 'a'))?.status).toBe('processing')
      expect(await on.store.recoverJobs()).toBe(2)
      expect((await on.store.get(everything(), 'a'))?.status).toBe('pending')
      expect(await on.store.claimJobs(9)).toMatchObject([
        { documentId: 'a', attempt: 2 },
        { documentId: 'b', attempt: 2 },
        { documentId: 'c', attempt: 1 },
      ])
    })
  })

  describe('a claim that is no longer current', () => {
    const endings: [string, (job: IngestionJob) => Promise<unknown>][] = [
      ['deleted', () => on.store.delete(everything(), 'a')],
      ['replaced', () => on.replaceContent('a', 'New')],
      ['released', (job) => on.store.releaseJob(job)],
      ['recovered', () => on.store.recoverJobs()],
      ['completed', async (job) => on.store.completeJob(job, [])],
      ['failed', (job) => on.store.failJob(job, FAILURE)],
      ['released and claimed again', (job) => on.store.releaseJob(job).then(on.claim)],
      ['put off and claimed again', (job) => on.store.failJob(job, FAILURE, 0).then(on.claim)],
      [
        'deleted, added and claimed again',
        async () => {
          await on.store.delete(everything(), 'a')
          await on.add('a')
          await on.claim()
        },
      ],
    ]

    it.each(endings)('changes nothing once it was %s', async (_how, end) => {
      await on.add('a')
      const stale = await on.claim()
      await end(stale)
      const [document, counts] = [await on.store.get(everything(), 'a'), await on.store.counts()]
      const chunks = await on.chunksOf('of a stale claim')

      expect(await on.store.completeJob(stale, chunks)).toBeUndefined()
      expect(await on.store.failJob(stale, FAILURE)).toBe(false)
      expect(await on.store.failJob(stale, FAILURE, 0)).toBe(false)
      await on.store.releaseJob(stale)

      expect(await on.store.get(everything(), 'a')).toEqual(document)
      expect(await on.store.counts()).toEqual(counts)
      const keys = chunks.map(({ key }) => key)
      expect((await on.store.readChunks(everything(), keys)).chunks).toEqual([])
    })
  })
}
