import { everything } from '@agent-server/lib/visibility.ts'
import type { StoredSource } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import type { StoreFixture } from './document-store.fixture.ts'

const PAGE: StoredSource = {
  url: 'https://a.example/page',
  refresh: '1d',
  title: 'Chosen',
  etag: '"1"',
  digest: 'd1',
  fetchedAt: 1_700_000_000_000,
  status: 200,
  failures: 0,
  dueAt: 1,
}

/** The part of the document store's contract that deals with what was fetched from the web. */
export function describeSources(on: StoreFixture): void {
  const put = (source: StoredSource | undefined, text = 'Text') =>
    on.store.put(everything(), { id: 'a', text, source })
  const due = () => on.store.takeSources(9, 60_000)

  describe('a source', () => {
    it('is kept with its document, over a restart, and goes with it', async () => {
      await put(PAGE)
      await on.reopen()
      expect((await on.store.get(everything(), 'a'))?.source).toEqual(PAGE)
      await on.store.delete(everything(), 'a')
      expect(await due()).toEqual([])
    })

    it('is taken by one alone when it is due, and again when whoever took it is gone', async () => {
      await put(PAGE)
      await on.store.add({
        id: 'later',
        text: 'x',
        source: { ...PAGE, dueAt: Date.now() + 60_000 },
      })
      await on.store.add({ id: 'never', text: 'x', source: { ...PAGE, dueAt: undefined } })
      expect(await on.store.takeSources(9, 0)).toEqual(['a'])
      const both = await Promise.all([due(), due()])
      expect(both.flat()).toEqual(['a'])
      expect(await due()).toEqual([])
    })

    it('is due at once if a clock that was ahead has noted its last fetch', async () => {
      const fetchedAt = Date.now() + 100 * 86_400_000
      await put({ ...PAGE, fetchedAt, dueAt: fetchedAt + 86_400_000 })
      expect(await due()).toEqual(['a'])
      expect(await due()).toEqual([])
    })

    it('waits for its time if it was noted by a server whose clock is ahead of the database', async () => {
      const fetchedAt = Date.now() + 600_000
      await put({ ...PAGE, fetchedAt, dueAt: fetchedAt + 86_400_000 })
      expect(await due()).toEqual([])
    })

    it('tells what the last fetch answered, unless the document has other content by then', async () => {
      await put(PAGE)
      const gone = { ...PAGE, status: 410, error: 'gone', failures: 1, dueAt: undefined }
      await on.store.noteSource('a', 2, gone)
      expect((await on.store.get(everything(), 'a'))?.source).toEqual(PAGE)
      await on.store.noteSource('a', 1, gone)
      expect((await on.store.get(everything(), 'a'))?.source).toMatchObject({
        status: 410,
        error: 'gone',
      })
      expect(await due()).toEqual([])
    })

    it('is replaced with the content, and gone where new content came from elsewhere', async () => {
      await put(PAGE)
      await put({ ...PAGE, digest: 'd2' }, 'Other text')
      expect((await on.store.get(everything(), 'a'))?.source).toMatchObject({ digest: 'd2' })
      await put(undefined, 'Sent by hand')
      expect((await on.store.get(everything(), 'a'))?.source).toBeUndefined()
      expect(await due()).toEqual([])
    })

    it('brings no document back, and replaces none, that somebody changed meanwhile', async () => {
      await put(PAGE)
      const before = await on.store.get(everything(), 'a')
      if (!before) throw new Error('There is no document')
      const content = { id: 'a', text: 'Fetched', source: PAGE }
      const replacing = () => on.store.put(everything(), content, before)
      await on.store.patchLabels(everything(), 'a', { metadata: { year: 2026 } })
      await expect(replacing()).rejects.toMatchObject({ code: 'document_not_found' })
      await on.store.patchLabels(everything(), 'a', { metadata: { year: null } })
      await on.store.put(everything(), { id: 'a', text: 'Sent by hand' })
      await expect(replacing()).rejects.toMatchObject({ code: 'document_not_found' })
      await on.store.delete(everything(), 'a')
      await expect(replacing()).rejects.toMatchObject({ code: 'document_not_found' })
      expect(await on.store.counts()).toMatchObject({ jobs: 0 })
      const metadata = { year: 2026, draft: true }
      const { revision } = await on.store.put(everything(), { id: 'a', text: 'New', metadata })
      const replaced = await on.store.put(everything(), content, {
        revision,
        collection: undefined,
        metadata,
      })
      expect(replaced.revision).toBe(2)
    })

    it('is not taken over by a request that was repeated', async () => {
      const once = { key: 'k', digest: 'd' }
      await on.store.add({ id: 'a', text: 'x', source: PAGE }, once)
      await on.store.add({ id: 'b', text: 'x', source: { ...PAGE, digest: 'other' } }, once)
      expect((await on.store.get(everything(), 'a'))?.source).toEqual(PAGE)
    })
  })
}
