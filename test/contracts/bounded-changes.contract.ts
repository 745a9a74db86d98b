import { describe, expect, it } from 'vitest'
import type { Metadata } from '../../src/schemas/metadata.ts'
import type { Among } from '../../src/stores/document-store.ts'
import type { StoreFixture } from './document-store.fixture.ts'

/** Changes that are made to documents of some collections alone. */
export function describeBoundedChanges(on: StoreFixture): void {
  const CASES: [string, Metadata | undefined, Among, boolean][] = [
    ['in the collection', { collection: 'a' }, ['b', 'a'], true],
    ['in another one', { collection: 'a' }, ['b', null], false],
    ['in none', { year: 1 }, ['b', null], true],
    ['without metadata', undefined, [null], true],
    ['in none, where only names are', undefined, ['a'], false],
    ['of a collection that is no text', { collection: 5 }, ['5'], false],
    ['of a collection that is no text, as one in none', { collection: 5 }, [null], true],
    ['of an empty name', { collection: '' }, [null], false],
  ]

  describe('a change within collections', () => {
    it.each(CASES)('is made to a document or not: %s', async (_case, metadata, among, isMade) => {
      await on.store.add({ id: 'a', text: 'x', metadata })
      const before = await on.store.get('a')
      const patched = await on.store.patchMetadata('a', { seen: true }, among)
      expect(patched !== undefined).toBe(isMade)
      const put = on.store.put({ id: 'a', text: 'y', metadata }, among)
      if (isMade) expect(await put).toMatchObject({ revision: 2 })
      else await expect(put).rejects.toMatchObject({ code: 'document_not_found', param: 'id' })
      if (!isMade) expect(await on.store.get('a')).toEqual(before)
      expect((await on.store.delete('a', among)) !== undefined).toBe(isMade)
      expect((await on.store.get('a')) === undefined).toBe(isMade)
    })

    it('adds a document where there is none, and only one of two that add it at once', async () => {
      const among = (name: string) =>
        on.store.put({ id: 'a', text: name, metadata: { collection: name } }, [name])
      const added = await Promise.allSettled(['one', 'two'].map(among))
      expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect((await on.store.get('a'))?.revision).toBe(1)
    })
  })
}
