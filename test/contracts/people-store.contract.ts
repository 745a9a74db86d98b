import type { StoredSession } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { type StoreData, useStores } from './open-store.ts'

const MOST = { perPerson: 3, inAll: 4 }
const session = (mac: string, more: Partial<StoredSession> = {}): StoredSession => ({
  mac,
  person: 'user:ada',
  name: undefined,
  groups: ['staff'],
  sealed: 'tokens',
  subject: 'ada',
  issuerSession: undefined,
  beganAt: 1,
  usedAt: 1,
  checkedAt: 1,
  knownAt: 1,
  ...more,
})

/** What accounts and the audit log rely on. */
export function describePeopleStore(name: string, createData: () => Promise<StoreData>): void {
  const openStores = useStores(createData)

  describe(`${name} as the store of people`, () => {
    it('lists everybody once, in pages, by when they first came', async () => {
      const { store } = await openStores()
      for (const id of ['user:c', 'user:a', 'user:b', 'user:c']) {
        await store.people.see({ id, name: undefined, email: undefined, groups: [] })
      }
      const first = await store.people.list({ limit: 2 })
      const second = await store.people.list({ limit: 2, cursor: first.nextCursor })
      const ids = [...first.people, ...second.people].map(({ id }) => id)
      expect(ids).toEqual(['user:c', 'user:a', 'user:b'])
      expect(second.nextCursor).toBeUndefined()
    })

    it('forgets who was not seen for longest and owns nothing, when somebody new makes too many', async () => {
      const { store } = await openStores()
      const see = (id: string, unseenMs = 1e9) =>
        store.people.see(
          { id, name: undefined, email: undefined, groups: [] },
          { most: 3, unseenMs },
        )
      const left = async () => (await store.people.list({ limit: 99 })).people.map(({ id }) => id)
      for (const id of ['user:limited', 'user:owner', 'user:gone', 'user:back']) await see(id)
      expect(await left()).toEqual(['user:owner', 'user:gone', 'user:back'])
      await store.people.limit('user:owner', { tokensPerDay: 1 })
      await see('user:owner')
      await see('user:new')
      expect(await left()).toEqual(['user:owner', 'user:back', 'user:new'])
      await store.conversations.create({
        id: 'conv_1',
        owner: 'user:back',
        title: 't',
        metadata: {},
      })
      await see('user:newer', -1e9)
      expect(await left()).toEqual(['user:owner', 'user:back', 'user:newer'])
    })

    it('keeps the sessions that were used last, and the newest of a person', async () => {
      const { store } = await openStores()
      const { sessions } = store
      const open = async (macs: readonly string[]) => {
        const all = await Promise.all(macs.map((mac) => sessions.find(mac)))
        return all.flatMap((one) => (one ? [one.mac] : []))
      }
      for (const [number, mac] of ['a', 'b', 'c', 'd'].entries()) {
        await sessions.add(session(mac, { beganAt: number, usedAt: number }), MOST)
      }
      expect(await open(['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd'])
      await sessions.use('b', 9)
      const others = { person: 'user:bob', usedAt: 5, beganAt: 5 }
      await sessions.add(session('e', others), MOST)
      await sessions.add(session('f', others), MOST)
      expect(await open(['b', 'c', 'd', 'e', 'f'])).toEqual(['b', 'd', 'e', 'f'])
      await sessions.removeOld({ beganAt: 2, usedAt: 5 })
      expect(await open(['b', 'd', 'e', 'f'])).toEqual(['e', 'f'])
    })

    it.each([
      [{ issuerSession: 's1', subject: undefined }, ['b', 'c', 'd']],
      [{ issuerSession: 's1', subject: 'ada' }, ['b', 'd']],
      [{ issuerSession: undefined, subject: 'ada' }, ['d']],
      [{ issuerSession: undefined, subject: 's1' }, ['a', 'b', 'c', 'd']],
    ])('removes the sessions that the issuer names by %j, and no others', async (of, left) => {
      const { store } = await openStores()
      const { sessions } = store
      const most = { perPerson: 9, inAll: 9 }
      await sessions.add(session('a', { issuerSession: 's1' }), most)
      await sessions.add(session('b', { issuerSession: 's2' }), most)
      await sessions.add(session('c'), most)
      await sessions.add(session('d', { subject: 'bob', person: 'user:bob' }), most)
      await sessions.removeOf(of)
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((mac) => sessions.find(mac)))
      expect(all.flatMap((one) => (one ? [one.mac] : []))).toEqual(left)
    })
  })

  describe(`${name} as the audit log`, () => {
    const entry = (number: number) => ({
      at: number * 10,
      who: number % 2 ? 'user:ada' : 'master',
      action: number % 3 ? 'read' : 'signIn',
      targets: { id: `${number}` },
    })

    async function openLog() {
      const { store } = await openStores()
      await store.audit.append([1, 2, 3, 4, 5, 6].map(entry))
      // A store that was emptied goes on counting.
      const [last] = await store.audit.list({ limit: 1 })
      return { audit: store.audit, before: (last?.number ?? 0) - 6 }
    }

    it.each([
      [{}, [6, 5, 4, 3, 2, 1]],
      [{ limit: 2 }, [6, 5]],
      [{ who: 'user:ada' }, [5, 3, 1]],
      [{ who: 'user:ada', action: 'signIn' }, [3]],
      [{ action: 'signIn' }, [6, 3]],
      [{ since: 30, until: 50 }, [4, 3]],
      [{ before: 3 }, [2, 1]],
      [{ who: 'master', since: 30, before: 6 }, [4]],
      [{ who: '' }, []],
    ])('lists what meets %j, the newest first', async (query, expected) => {
      const { audit, before } = await openLog()
      const entries = await audit.list({
        limit: 9,
        ...query,
        ...('before' in query && { before: before + query.before }),
      })
      expect(entries.map(({ targets }) => Number(targets.id))).toEqual(expected)
    })

    it('loses the oldest beyond a number, by which none is given twice', async () => {
      const { audit, before } = await openLog()
      await audit.removeOld(0, 4)
      await audit.removeOld(0, 9)
      await audit.append([entry(7)])
      const entries = await audit.list({ limit: 9 })
      expect(entries.map(({ number }) => number - before)).toEqual([7, 6, 5, 4, 3])
    })
  })
}
