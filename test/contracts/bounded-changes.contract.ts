import { everything } from '@agent-server/lib/visibility.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { describe, expect, it } from 'vitest'
import type { StoreFixture } from './document-store.fixture.ts'

/** Changes by callers that see the documents of some collections alone. */
export function describeBoundedChanges(on: StoreFixture): void {
  const CASES: [string, Metadata | undefined, string[], boolean][] = [
    ['in the collection', { collection: 'a' }, ['b', 'a'], true],
    ['in another one', { collection: 'a' }, ['b', 'default'], false],
    ['in none', { year: 1 }, ['b', 'default'], true],
    ['without metadata', undefined, ['default'], true],
    ['in none, where only names are', undefined, ['a'], false],
    ['of a collection that is no text', { collection: 5 }, ['5'], false],
    ['of a collection that is no text, as one in none', { collection: 5 }, ['default'], true],
    ['of an empty name', { collection: '' }, ['default'], false],
    ['of the name of the default one', { collection: 'default' }, ['default'], true],
    ['where no collection is seen', undefined, [], false],
  ]

  describe('a change within collections', () => {
    it.each(CASES)('is made to a document or not: %s', async (_case, metadata, seen, isMade) => {
      const visibility = forCaller({ collections: seen })
      await on.store.add({ id: 'a', text: 'x', metadata })
      const before = await on.store.get(everything(), 'a')
      const patched = await on.store.patchLabels(visibility, 'a', { metadata: { seen: true } })
      expect(patched !== undefined).toBe(isMade)
      const put = on.store.put(visibility, { id: 'a', text: 'y', metadata })
      if (isMade) expect(await put).toMatchObject({ revision: 2 })
      else await expect(put).rejects.toMatchObject({ code: 'document_not_found', param: 'id' })
      if (!isMade) expect(await on.store.get(everything(), 'a')).toEqual(before)
      expect((await on.store.delete(visibility, 'a')) !== undefined).toBe(isMade)
      expect((await on.store.get(everything(), 'a')) === undefined).toBe(isMade)
    })

    it('adds a document where there is none, and only one of two that add it at once', async () => {
      const put = (collection: string) =>
        on.store.put(forCaller({ collections: [collection] }), {
          id: 'a',
          text: collection,
          collection,
        })
      const added = await Promise.allSettled(['one', 'two'].map(put))
      expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect((await on.store.get(everything(), 'a'))?.revision).toBe(1)
    })
  })
}
