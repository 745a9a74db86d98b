import { everything } from '@agent-server/lib/visibility.ts'
import type { IngestionJob } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { FAILURE } from './document-store.fixture.ts'
import { type StoreData, type TestStore, useStores } from './open-store.ts'

const LEASE = 60_000

/** What every outbox must keep. */
export function describeOutbox(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)
  const claim = async ({ store }: TestStore): Promise<IngestionJob> => {
    const [job] = await store.claimJobs(1)
    if (!job) throw new Error('No job is due')
    return job
  }
  const complete = async (opened: TestStore) => opened.store.completeJob(await claim(opened), [])
  const openWanted = async () => {
    const opened = await open()
    await opened.store.outbox.enable(true)
    return opened
  }
  const take = ({ store }: TestStore, milliseconds = LEASE) =>
    store.outbox.takeEvents(9, milliseconds)

  describe(`The outbox of ${name}`, () => {
    it('holds each document that became ready, or failed, with the reason', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      await opened.store.add({ id: 'b', text: 'x' })
      await opened.store.failJob(await claim(opened), FAILURE)
      const announced = await take(opened)
      expect(announced).toMatchObject([
        { documentId: 'a', revision: 1, status: 'ready', error: undefined, attempt: 1 },
        { documentId: 'b', revision: 1, status: 'failed', error: FAILURE, attempt: 1 },
      ])
      expect(new Set(announced.map(({ id }) => id)).size).toBe(2)
      expect(Math.abs(Date.now() - (announced[0]?.endedAt ?? 0))).toBeLessThan(60_000)
    })

    it('holds nothing of a document that waits for another attempt, or was given back', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await opened.store.releaseJob(await claim(opened))
      await opened.store.failJob(await claim(opened), FAILURE, 0)
      expect(await take(opened)).toEqual([])
    })

    it('holds the last end alone of a document that ended again, under an id of its own', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      const [first] = await take(opened, 0)
      await opened.store.put(everything(), { id: 'a', text: 'y' })
      await complete(opened)
      const second = await take(opened, 0)
      expect(second).toMatchObject([{ documentId: 'a', revision: 2, attempt: 1 }])
      expect(second[0]?.id).not.toBe(first?.id)
      await opened.store.outbox.removeEvent(first?.id ?? '')
      expect(await take(opened)).toHaveLength(1)
    })

    it('holds nothing of a document that was deleted', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      await opened.store.delete(everything(), 'a')
      expect(await take(opened)).toEqual([])
    })

    it('gives an event to one taker at a time, and again when that one is silent', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      const [first] = await take(opened, 0)
      expect(await take(opened)).toMatchObject([{ id: first?.id, attempt: 2 }])
      expect(await take(opened)).toEqual([])
    })

    it('puts off what could not be told, and drops what was', async () => {
      const opened = await openWanted()
      for (const id of ['a', 'b']) await opened.store.add({ id, text: 'x' })
      await complete(opened)
      await complete(opened)
      const [a, b] = await take(opened)
      await opened.store.outbox.postponeEvent(a?.id ?? '', Date.now() - 1)
      await opened.store.outbox.removeEvent(b?.id ?? '')
      expect(await take(opened)).toMatchObject([{ documentId: 'a', attempt: 2 }])
      await opened.store.outbox.postponeEvent(a?.id ?? '', Date.now() + LEASE)
      expect(await take(opened)).toEqual([])
    })

    it('tells at once what a clock that was ahead has put off for long', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      const [event] = await take(opened)
      await opened.store.outbox.postponeEvent(event?.id ?? '', Date.now() + 400 * 86_400_000)
      expect(await take(opened)).toMatchObject([{ documentId: 'a', attempt: 2 }])
    })

    it('survives a restart', async () => {
      const opened = await openWanted()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      await opened.reopen()
      expect(await take(opened)).toMatchObject([{ documentId: 'a', status: 'ready' }])
    })

    it('holds nothing where nobody wants to be told, and drops what waited', async () => {
      const opened = await open()
      await opened.store.add({ id: 'a', text: 'x' })
      await complete(opened)
      await opened.store.outbox.enable(true)
      expect(await take(opened)).toEqual([])
      await opened.store.put(everything(), { id: 'a', text: 'y' })
      await complete(opened)
      await opened.store.outbox.enable(false)
      await opened.store.outbox.enable(true)
      expect(await take(opened)).toEqual([])
    })
  })
}
