import type { KeyStore, StoredKey } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { type StoreData, useStores } from './open-store.ts'

const MOST = 5
const MANY = 100
const keyOf = (id: string, more: Partial<StoredKey> = {}): StoredKey => ({
  id,
  name: `Key ${id}`,
  scopes: ['query'],
  createdAt: 1,
  digest: 'd',
  ...more,
})
const useOf = (id: string, lastUsedAt: number) => ({ id, lastUsedAt })
const idsOf = async (keys: KeyStore) => (await keys.list()).map(({ id }) => id)

/** What API keys rely on. */
export function describeKeyStore(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)
  const openData = async () => {
    const { store, reopen } = await open()
    return { keys: store.keys, reopen: async () => (await reopen()).keys }
  }

  describe(`${name} as the store of API keys`, () => {
    it('holds nothing at first', async () => {
      const { keys } = await openData()
      expect(await keys.list()).toEqual([])
      expect(await keys.find('a')).toBeUndefined()
    })

    it('renews the secret of a key for one of several who know the present digest', async () => {
      const { keys } = await openData()
      await keys.add(keyOf('a'), MOST)
      const next = ['x', 'y', 'z'].map((digest) => ({ digest, expiresAt: 7 }))
      const renewed = await Promise.all(next.map((each) => keys.renew('a', 'd', each)))
      expect(renewed.filter(Boolean)).toHaveLength(1)
      expect(await keys.find('a')).toMatchObject(next[renewed.indexOf(true)] ?? {})
      expect(await keys.renew('none', 'd', { digest: 'x' })).toBe(false)
    })

    it('holds what was written when it is opened again', async () => {
      const { keys, reopen } = await openData()
      const whole = keyOf('a', {
        name: 'a "\u0000\u{1F9A6}',
        scopes: ['query', 'ingest'],
        collections: ['red'],
        requestsPerMinute: 3,
        tokensPerDay: 1_000_000_000,
        costPerDay: 12.5,
        expiresAt: Date.UTC(2100),
        createdAt: Date.UTC(2026),
      })
      expect(await keys.add(keyOf('maker'), MOST)).toBe(true)
      expect(await keys.add({ ...whole, createdBy: 'maker' }, MOST)).toBe(true)
      await keys.addUse([useOf('a', 7)])
      const again = await reopen()
      expect(await again.find('a')).toEqual({ ...whole, createdBy: 'maker', lastUsedAt: 7 })
      expect(await again.list()).toMatchObject([
        { id: 'maker', lastUsedAt: undefined },
        { id: 'a' },
      ])
    })

    it('removes none by age before a clock that nobody has watched for an hour', async () => {
      const { keys } = await openData()
      await keys.add(keyOf('a'), MOST)
      expect(await keys.removeOld('a', 0)).toBe(false)
      expect(await idsOf(keys)).toEqual(['a'])
      expect(await keys.remove('a')).toBe(true)
    })

    it('takes no more keys than it is told', async () => {
      const { keys } = await openData()
      const ids = ['a', 'b', 'c', 'd']
      const added = await Promise.allSettled(ids.map((id) => keys.add(keyOf(id), 3)))
      expect(added.filter(({ status }) => status === 'rejected')).toMatchObject([
        { reason: { code: 'too_many_keys' } },
      ])
      expect(await keys.list()).toHaveLength(3)
    })

    it('takes no more keys made by OAuth than one key or all may allow, however many come at once', async () => {
      const { keys } = await openData()
      for (const id of ['a', 'b']) await keys.add(keyOf(id), MANY)
      const of = async (createdBy: string | undefined, ofOne: number) => {
        const added = await Promise.allSettled(
          Array.from({ length: 20 }, (_, n) =>
            keys.add(keyOf(`oauth${createdBy}${n}`, { createdBy }), MANY, {
              prefix: 'oauth',
              ofOne,
              inAll: 8,
            }),
          ),
        )
        return added.filter(({ status }) => status === 'fulfilled').length
      }
      expect(await of('a', 3)).toBe(3)
      expect(await of('b', 3)).toBe(3)
      expect(await of(undefined, 3)).toBe(2)
    })

    it('removes a key with its use and those that it created, and takes none from it afterwards', async () => {
      const { keys } = await openData()
      await keys.add(keyOf('other'), MOST)
      await keys.add(keyOf('maker'), MOST)
      await keys.add(keyOf('made', { createdBy: 'maker' }), MOST)
      await keys.addUse([useOf('made', 1)])
      expect(await keys.remove('maker')).toBe(true)
      expect(await keys.remove('maker')).toBe(false)
      expect(await keys.add(keyOf('late', { createdBy: 'maker' }), MOST)).toBe(false)
      await keys.addUse([useOf('made', 1), useOf('other', 2)])
      expect(await idsOf(keys)).toEqual(['other'])
      expect(await keys.find('other')).toMatchObject({ lastUsedAt: 2 })
    })

    it('knows when a key was last used, in whatever order that is noted', async () => {
      const { keys } = await openData()
      await keys.add(keyOf('a'), MOST)
      await Promise.all([1, 4, 2, 3].map((time) => keys.addUse([useOf('a', time)])))
      expect((await keys.find('a'))?.lastUsedAt).toBe(4)
    })
  })
}
