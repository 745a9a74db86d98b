import { everything } from '@agent-server/lib/visibility.ts'
import type { MetadataPatch } from '@agent-server/schemas/metadata.ts'
import { describe, expect, it } from 'vitest'
import type { StoreFixture } from './document-store.fixture.ts'

/** Metadata that is changed alone. */
export function describePatchedMetadata(on: StoreFixture): void {
  const patch = (change: Record<string, string | number | boolean | null>) =>
    on.store.patchLabels(everything(), 'a', { metadata: change })
  const taken = async (field: string, eq: string | number) =>
    (await on.store.countListed(everything(), { filter: { field, eq } })) === 1

  describe('metadata that is changed alone', () => {
    it('is merged, durable, and filtered by at once; the rest of the document stays', async () => {
      await on.store.add({ id: 'a', text: 'x', metadata: { kept: 1.5, left: 'x', set: 'old' } })
      await on.ingest('x')
      const before = await on.store.get(everything(), 'a')
      const patched = await patch({ left: null, set: 'néw 👋', big: 1e21, on: true })
      const metadata = { kept: 1.5, set: 'néw 👋', big: 1e21, on: true }
      expect(patched).toEqual({ ...before, metadata, updatedAt: expect.any(Number) })
      await on.reopen()
      expect(await on.store.get(everything(), 'a')).toEqual(patched)
      expect(await taken('set', 'néw 👋')).toBe(true)
      expect(await taken('set', 'old')).toBe(false)
      expect(await taken('left', 'x')).toBe(false)
      expect(await taken('big', 1e21)).toBe(true)
    })

    it('begins where there was none, and can end so', async () => {
      await on.add('a')
      expect(await patch({ year: 2026 })).toMatchObject({ metadata: { year: 2026 } })
      expect(await patch({ year: null })).toMatchObject({ metadata: {} })
      expect(await taken('year', 2026)).toBe(false)
    })

    it('is of the replacement, too, that waits', async () => {
      await on.store.add({ id: 'a', text: 'x', metadata: { team: 'red' } })
      await on.ingest('x')
      await on.store.put(everything(), { id: 'a', text: 'y', metadata: { colour: 'green' } })
      await patch({ year: 2026 })
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        metadata: { team: 'red', year: 2026 },
      })
      const job = await on.claim()
      expect(job.metadata).toEqual({ colour: 'green', year: 2026 })
      await on.store.completeJob(job, await on.chunksOf('y'))
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        metadata: { colour: 'green', year: 2026 },
      })
    })

    it('changes nothing unless its fields are as expected', async () => {
      await on.store.add({ id: 'a', text: 'x', metadata: { year: 2025, draft: true } })
      const before = await on.store.get(everything(), 'a')
      const change = (expected: MetadataPatch) =>
        on.store.patchLabels(
          everything(),
          'a',
          { metadata: { year: 2026 } },
          { metadata: expected },
        )
      for (const [field, value] of Object.entries({ year: 2024, draft: null, toString: 'x' })) {
        const refused = { code: 'edit_conflict', param: `expected.metadata.${field}` }
        await expect(change({ [field]: value })).rejects.toMatchObject(refused)
      }
      expect(await on.store.get(everything(), 'a')).toEqual(before)
      expect(await change({ year: 2025, team: null })).toMatchObject({ metadata: { year: 2026 } })
      await expect(change({ year: 2025 })).rejects.toMatchObject({ code: 'edit_conflict' })
    })

    it('takes a claim back', async () => {
      await on.store.add({ id: 'a', text: 'x', metadata: { year: 1 } })
      const first = await on.claim()
      expect(await patch({ year: 3 })).toMatchObject({ status: 'pending', attempts: 0 })
      expect(await on.store.completeJob(first, await on.chunksOf('x'))).toBeUndefined()
      const second = await on.claim()
      expect(second).toMatchObject({ attempt: 1, metadata: { year: 3 } })
      expect(await on.store.completeJob(second, await on.chunksOf('x'))).toEqual([])
      expect(await on.store.counts()).toMatchObject({
        documents: { ready: 1, pending: 0 },
        jobs: 0,
      })
    })

    it('is refused where the fields become too many, and nothing where there is no document', async () => {
      expect(await patch({ year: 1 })).toBeUndefined()
      const fields = Array.from({ length: 32 }, (_, n) => [`field${n}`, n])
      await on.store.add({ id: 'a', text: 'x', metadata: Object.fromEntries(fields) })
      const refused = { code: 'invalid_request', param: 'metadata' }
      await expect(patch({ more: 1 })).rejects.toMatchObject(refused)
      expect(await patch({ more: 1, field0: null })).toMatchObject({ metadata: { more: 1 } })
      await on.store.put(everything(), { id: 'a', text: 'y', metadata: { year: 1 } })
      await expect(patch({ another: 1 })).rejects.toMatchObject(refused)
    })
  })
}
