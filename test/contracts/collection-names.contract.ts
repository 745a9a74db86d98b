import { describe, expect, it } from 'vitest'
import { MAX_NAMES } from '../../src/stores/collection-names.ts'
import { openStore, type StoreData } from './open-store.ts'

/** What the names of vector stores rely on. */
export function describeCollectionNames(name: string, createData: () => Promise<StoreData>): void {
  describe(`${name} as the store of collections’ names`, () => {
    it('keeps one name for each collection until it is forgotten', async () => {
      const { store, reopen } = await openStore(createData)
      await store.collectionNames.set('pond', 'The pond')
      await store.collectionNames.set('pond', 'Our “pond” \u{1F9A6}')
      await store.collectionNames.set('lake', 'Lake')
      await store.collectionNames.set('lake', undefined)
      await store.collectionNames.set('sea', undefined)
      const { collectionNames } = await reopen()
      expect([...(await collectionNames.list())]).toEqual([['pond', 'Our “pond” \u{1F9A6}']])
    })

    it('refuses one more than there may be', async () => {
      const { collectionNames } = (await openStore(createData)).store
      for (let n = 1; n <= MAX_NAMES; n += 1) await collectionNames.set(`c${n}`, `No. ${n}`)
      await expect(collectionNames.set('more', 'More')).rejects.toMatchObject({ param: 'name' })
      await collectionNames.set('c1', 'Again')
      expect((await collectionNames.list()).size).toBe(MAX_NAMES)
    })
  })
}
