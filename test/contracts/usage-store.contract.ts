import type { OwnerLimits } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import type { UsageQuery } from '../../packages/stores/src/usage-store.ts'
import { usageOf } from '../support/usage.ts'
import { type StoreData, useStores } from './open-store.ts'

const DAY = 20_000
const NOW = 1_000
const hold = (id: string, expiresAt = 2_000) => ({ id, expiresAt })
const ALL: UsageQuery = { by: [], since: 0, until: 99_999, limit: 100 }
const anna = { person: 'user:anna', groups: ['staff', 'sales'] }
const bert = { person: 'user:bert', groups: ['sales', 'staff'] }

/** What limits on models, and reports of them, rely on. */
export function describeUsageStore(name: string, createData: () => Promise<StoreData>): void {
  const openEmpty = useStores(createData)
  /** Both have been here. */
  const open = async () => {
    const opened = await openEmpty()
    for (const { person: id, groups } of [anna, bert]) {
      await opened.store.people.see({ id, name: undefined, email: undefined, groups })
    }
    return opened
  }
  const openUsage = async () => (await open()).store.usage

  describe(`${name} as the ledger of what models cost`, () => {
    it('adds up calls of the same owners, agent and model, whatever the order of groups', async () => {
      const { store, reopen } = await open()
      const one = usageOf({ ...anna, inputTokens: 7, cachedTokens: 5, outputTokens: 2, cost: 0.25 })
      await store.usage.add([one, { ...one, groups: ['sales', 'staff'], unpricedCalls: 1 }])
      const usage = (await reopen()).usage
      const amounts = { calls: 2, inputTokens: 14, cachedTokens: 10, outputTokens: 4 }
      expect(await usage.sum(ALL)).toEqual([{ ...amounts, cost: 0.5, unpricedCalls: 1 }])
      expect(await usage.sum({ ...ALL, by: ['group'] })).toMatchObject([
        { group: 'sales', ...amounts },
        { group: 'staff', ...amounts },
      ])
    })

    it('sums by each thing, of each thing, and within days', async () => {
      const usage = await openUsage()
      await usage.add([
        usageOf({ ...anna, inputTokens: 4 }),
        usageOf({ ...anna, inputTokens: 1, day: DAY + 1, model: 'other' }),
        usageOf({ ...bert, key: 'k', payer: 'p', inputTokens: 2, agent: 'clerk' }),
        usageOf({ inputTokens: 8, agent: '' }),
      ])
      const by = async (dimensions: UsageQuery['by'], more: Partial<UsageQuery> = {}) => {
        const sums = await usage.sum({ ...ALL, by: dimensions, ...more })
        return sums.map((sum) => [...dimensions.map((each) => sum[each]), sum.inputTokens])
      }
      expect(await by(['day'])).toEqual([
        [DAY + 1, 1],
        [DAY, 14],
      ])
      expect(await by(['person'])).toEqual([
        ['', 8],
        ['user:anna', 5],
        ['user:bert', 2],
      ])
      expect(await by(['group'])).toEqual([
        ['', 8],
        ['sales', 7],
        ['staff', 7],
      ])
      expect(await by(['agent', 'model'], { group: 'staff' })).toEqual([
        ['agent', 'a-model', 4],
        ['clerk', 'a-model', 2],
        ['agent', 'other', 1],
      ])
      expect(await by([], { key: 'p' })).toEqual([[2]])
      expect(await by([], { person: 'user:anna', since: DAY + 1 })).toEqual([[1]])
      expect(await by([], { person: 'user:none' })).toEqual([[0]])
      expect(await by(['person'], { limit: 1 })).toEqual([['', 8]])
      expect(await usage.tokensOfKeys(DAY)).toEqual(
        new Map([
          ['k', 2],
          ['p', 2],
        ]),
      )
      expect(await by([], { key: '', person: '' })).toEqual([[8]])
      await usage.add([usageOf({ key: 'k', inputTokens: 16, day: DAY + 2 })])
      expect(await by([], { key: '', person: '' })).toEqual([[8]])
      expect(await by([], { key: 'k' })).toEqual([[18]])
      expect(await by([], { key: 'k', since: DAY + 2 })).toEqual([[16]])
    })

    it.each<[string, OwnerLimits]>([
      ['key', { kind: 'key', id: 'k', tokensPerDay: 100 }],
      ['key that let a program in', { kind: 'key', id: 'p', tokensPerDay: 100 }],
      ['person', { kind: 'person', id: 'user:anna', tokensPerDay: 100 }],
      ['group', { kind: 'group', id: 'sales', tokensPerDay: 100 }],
      ['person, in money', { kind: 'person', id: 'user:anna', costPerDay: 1 }],
      ['group, in money', { kind: 'group', id: 'staff', costPerDay: 1 }],
    ])('holds for a %s what calls at once may use, and never more', async (_case, limits) => {
      const usage = await openUsage()
      const owners = { ...anna, key: 'k', payer: 'p' }
      const call = usageOf({ ...owners, inputTokens: 30, outputTokens: 10, cost: 0.4 })
      const begin = (id: string) => usage.hold(call, hold(id), [limits], NOW)
      const refused = await Promise.all(Array.from({ length: 60 }, (_, n) => begin(`${n}`)))
      const begun = refused.flatMap((refusal, n) => (refusal ? [] : [n]))
      expect(begun).toHaveLength(2)
      expect(refused.find(Boolean)).toMatchObject({ limits, isHeld: true })
      expect(await usage.used(limits, DAY, NOW)).toMatchObject({ tokens: 0, heldTokens: 80 })
      await usage.add(begun.map((n) => ({ ...call, hold: `${n}` })))
      expect(await usage.used(limits, DAY, NOW)).toEqual({
        tokens: 80,
        cost: 0.8,
        heldTokens: 0,
        heldCost: 0,
      })
      expect(await begin('last')).toBeUndefined()
      expect(await begin('more')).toMatchObject({ isHeld: true })
      await usage.add([{ ...call, hold: 'last' }])
      expect(await begin('over')).toMatchObject({ limits, isHeld: false })
    })

    it('lets a call go alone that may exceed what is left, and counts nothing of one that did nothing', async () => {
      const usage = await openUsage()
      const limits: OwnerLimits[] = [{ kind: 'person', id: 'user:anna', tokensPerDay: 10 }]
      const call = usageOf({ ...anna, inputTokens: 5_000 })
      expect(await usage.hold(call, hold('a'), limits, NOW)).toBeUndefined()
      expect(await usage.hold(call, hold('b'), limits, NOW)).toMatchObject({ isHeld: true })
      await usage.add([{ ...call, calls: 0, inputTokens: 0, hold: 'a' }])
      expect(await usage.hold(call, hold('c'), limits, NOW)).toBeUndefined()
      expect(await usage.sum(ALL)).toMatchObject([{ calls: 0 }])
    })

    it('is refused by whichever limit is reached, and holds nothing then', async () => {
      const usage = await openUsage()
      await usage.add([usageOf({ ...bert, inputTokens: 50 })])
      const limits: OwnerLimits[] = [
        { kind: 'person', id: 'user:anna', tokensPerDay: 100 },
        { kind: 'group', id: 'sales', tokensPerDay: 50 },
      ]
      const call = usageOf({ ...anna, inputTokens: 1 })
      expect(await usage.hold(call, hold('a'), limits, NOW)).toMatchObject({
        limits: { kind: 'group', id: 'sales' },
        limit: 'tokensPerDay',
        isHeld: false,
      })
      const person = { kind: 'person' as const, id: 'user:anna' }
      expect(await usage.used(person, DAY, NOW)).toMatchObject({ heldTokens: 0 })
    })

    it('is refused by what is used up before what is only held, which may be free again soon', async () => {
      const usage = await openUsage()
      await usage.add([usageOf({ ...anna, inputTokens: 1, cost: 2 })])
      const anybody: OwnerLimits = { kind: 'person', id: 'user:anna', tokensPerDay: 5 }
      const call = usageOf({ ...anna, inputTokens: 4 })
      expect(await usage.hold(call, hold('a'), [anybody], NOW)).toBeUndefined()
      for (const limits of [
        [{ ...anybody, costPerDay: 2 }],
        [anybody, { kind: 'group' as const, id: 'sales', costPerDay: 2 }],
      ]) {
        const refusal = await usage.hold(call, hold('b'), limits, NOW)
        expect(refusal).toMatchObject({ limit: 'costPerDay', isHeld: false })
      }
    })

    it('lets go what was held for longer than it may, as by a server that crashed', async () => {
      const usage = await openUsage()
      const limits: OwnerLimits[] = [{ kind: 'key', id: 'k', tokensPerDay: 10 }]
      const call = usageOf({ key: 'k', inputTokens: 10 })
      expect(await usage.hold(call, hold('lost', 2_000), limits, 1_000)).toBeUndefined()
      expect(await usage.hold(call, hold('a', 3_000), limits, 1_999)).toMatchObject({
        isHeld: true,
      })
      expect(await usage.hold(call, hold('b', 3_000), limits, 2_000)).toBeUndefined()
    })

    it('adds up more money than an integer of JavaScript holds in billionths, and limits it', async () => {
      const { store } = await open()
      const call = usageOf({ ...anna, key: 'k', cost: 9_000_000 })
      await store.usage.add([call, call, { ...call, cost: 0.25 }])
      expect(await store.usage.sum(ALL)).toMatchObject([{ cost: 18_000_000.25 }])
      const limits: OwnerLimits = { kind: 'key', id: 'k', costPerDay: 1_000_000_000 }
      expect(await store.usage.used(limits, DAY, NOW)).toMatchObject({ cost: 18_000_000.25 })
      expect(await store.usage.hold(call, hold('a'), [limits], NOW)).toBeUndefined()
      await store.people.limit('user:anna', { costPerDay: 1_000_000_000 })
      expect(await store.people.find('user:anna')).toMatchObject({ costPerDay: 1_000_000_000 })
    })

    it('forgets who a removed person was, and keeps what they have cost', async () => {
      const { store } = await open()
      const { usage, people } = store
      const late = usageOf({ ...anna, inputTokens: 5, cost: 0.5 })
      await usage.add([late, { ...late, groups: ['staff'] }, { ...late, ...bert }])
      await people.remove('user:anna')
      await people.remove('user:bert')
      await usage.add([late])
      expect(await usage.sum({ ...ALL, by: ['person', 'group'] })).toMatchObject([
        { person: 'removed', group: '', calls: 4, inputTokens: 20, cost: 2 },
      ])
    })

    it('holds the limits of a person until they are taken away', async () => {
      const { people } = (await open()).store
      const seen = { id: 'user:carl', name: undefined, email: undefined, groups: [] }
      expect(await people.limit('user:carl', { tokensPerDay: 5 })).toBeUndefined()
      await people.see(seen)
      const both = { tokensPerDay: 5, costPerDay: 0.75 }
      expect(await people.limit('user:carl', both)).toMatchObject(both)
      await people.see(seen)
      expect(await people.find('user:carl')).toMatchObject({ tokensPerDay: 5, costPerDay: 0.75 })
      expect(await people.limit('user:carl', { tokensPerDay: 6 })).toMatchObject({
        costPerDay: 0.75,
      })
      expect(await people.limit('user:carl', {})).toMatchObject({ tokensPerDay: 6 })
      await people.limit('user:carl', { tokensPerDay: null, costPerDay: null })
      expect(await people.find('user:carl')).toMatchObject({
        tokensPerDay: undefined,
        costPerDay: undefined,
      })
    })
  })
}
