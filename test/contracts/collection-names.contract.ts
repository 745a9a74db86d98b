import { describe, expect, it } from 'vitest'
import { MAX_NAMES } from '../../packages/stores/src/collection-names.ts'
import { type StoreData, useStores } from './open-store.ts'

/** What the names of vector stores rely on. */
export function describeCollectionNames(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)

  describe(`${name} as the store of collections’ names`, () => {
    it('keeps one name for each collection until it is forgotten', async () => {
      const { store, reopen } = await open()
      await store.collectionNames.set('pond', 'The pond', undefined)
      await store.collectionNames.set('pond', 'Our “pond” \u{1F9A6}', undefined)
      await store.collectionNames.set('lake', 'Lake', undefined)
      await store.collectionNames.set('lake', undefined, undefined)
      await store.collectionNames.set('sea', undefined, undefined)
      const { collectionNames } = await reopen()
      expect([...(await collectionNames.list())]).toEqual([['pond', 'Our “pond” \u{1F9A6}']])
    })

    it('refuses one more than there may be', async () => {
      const { collectionNames } = (await open()).store
      for (let n = 1; n <= MAX_NAMES; n += 1)
        await collectionNames.set(`c${n}`, `No. ${n}`, undefined)
      await expect(collectionNames.set('more', 'More', undefined)).rejects.toMatchObject({
        param: 'name',
        // How many all have together is nobody's business.
        message: expect.not.stringMatching(/\d/),
      })
      await collectionNames.set('c1', 'Again', undefined)
      expect((await collectionNames.list()).size).toBe(MAX_NAMES)
    })

    it('leaves names to others, whatever one owner takes', async () => {
      const { collectionNames } = (await open()).store
      const give = (n: number, owner: string | undefined) =>
        collectionNames.set(`c${n}`, `No. ${n}`, owner)
      let taken = 0
      const greed = async () => {
        for (; taken < MAX_NAMES; taken += 1) await give(taken, 'greedy')
      }
      await expect(greed()).rejects.toMatchObject({ param: 'name' })
      expect(taken).toBeLessThan(MAX_NAMES / 2)
      await give(taken + 1, 'modest')
      await give(taken + 2, undefined)
    })
  })
}
