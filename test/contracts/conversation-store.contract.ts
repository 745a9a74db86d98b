import type { ConversationStore, NewItem } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { processorMs } from '../support/processor-time.ts'
import { type StoreData, useStores } from './open-store.ts'

const MASTER = undefined
const of = (id: string, owner: string | undefined = MASTER) => ({ id, owner })
const itemOf = (conversation: string, item: string) => ({ ...of(conversation), item })
const itemsOf = (...ids: string[]): NewItem[] => ids.map((id) => ({ id, json: `{"said":"${id}"}` }))
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)
const keyOf = (id: string) => ({ id, name: id, scopes: [], createdAt: 1, digest: 'd' })

const create = (store: ConversationStore, id: string, owner?: string) =>
  store.create({ id, owner, metadata: {} })

/** What conversations rely on. */
export function describeConversationStore(
  name: string,
  createData: () => Promise<StoreData>,
): void {
  const open = useStores(createData)
  const openData = async () => {
    const { store, reopen } = await open()
    const { conversations, keys } = store
    return { conversations, keys, reopen: async () => (await reopen()).conversations }
  }

  describe(`${name} as the store of conversations`, () => {
    it('holds what was written when it is opened again', async () => {
      const { conversations, reopen } = await openData()
      const metadata = { topic: 'a "\u0000\u{1F9A6}' }
      await conversations.create({ id: 'c', owner: MASTER, metadata })
      const question = `  When \n does ${'it open and '.repeat(10)}`
      await conversations.add(of('c'), { items: itemsOf('a', 'b'), question })
      const again = await reopen()
      expect(await again.find(of('c'))).toMatchObject({
        metadata,
        title: 'When does it open and it open and it open and it open and it open and it open…',
        lastItem: 'b',
      })
      expect(await again.items(of('c'))).toEqual([
        { id: 'a', parent: undefined, json: '{"said":"a"}', silentMs: undefined },
        { id: 'b', parent: 'a', json: '{"said":"b"}', silentMs: undefined },
      ])
    })

    it('lists those of a key, the last changed first, page by page, and finds words of titles, questions and answers', async () => {
      const { conversations, keys } = await openData()
      await keys.add(keyOf('k'), 5)
      for (const id of ['a', 'b', 'c']) await create(conversations, id)
      await create(conversations, 'other', 'k')
      // What changes in the same millisecond is listed by its age.
      const created = Date.now()
      await expect.poll(() => Date.now()).toBeGreaterThan(created)
      const [asked, answer] = [{ id: '1', json: '{}', text: 'When do OWLS hunt?' }, itemsOf('2')]
      await conversations.add(of('a'), { items: [asked, ...answer], isOpen: true })
      const told = `At NIGHT.${' '.repeat(9_985)}\u{1F989}FARAWAY`
      await conversations.end(itemOf('a', '2'), { json: '{}', text: told })
      await conversations.change(of('b'), { title: '100 % Ötzi' })
      const list = async (more = {}) =>
        idsOf(await conversations.list(MASTER, { limit: 9, ...more }))
      expect((await list())[0]).toBe('a')
      expect(await list()).toHaveLength(3)
      const [, second] = await list()
      expect(await list({ limit: 2, after: 'a' })).toHaveLength(2)
      expect((await list({ limit: 1, after: 'a' }))[0]).toBe(second)
      expect(await list({ search: 'owls' })).toEqual(['a'])
      expect(await list({ search: 'at night' })).toEqual(['a'])
      expect(await list({ search: 'faraway' })).toEqual([])
      expect(await list({ search: '% öTZI' })).toEqual(['b'])
      expect(await list({ search: '%a%' })).toEqual([])
      await conversations.removeItem(itemOf('a', '2'))
      expect(await list({ search: 'at night' })).toEqual([])
      expect(idsOf(await conversations.list('k', { limit: 9 }))).toEqual(['other'])
    })

    it('searches texts that nearly match everywhere in no more time than others', async () => {
      const { conversations } = await openData()
      await create(conversations, 'a')
      const text = 'a'.repeat(10_000)
      const items = Array.from({ length: 300 }, (_, place) => ({
        id: `${place}`,
        json: '{}',
        text,
      }))
      await conversations.add(of('a'), { items })
      // The first one starts what the next finds ready.
      for (const end of ['c', 'b']) {
        const began = processorMs()
        const found = await conversations.list(MASTER, { limit: 9, search: 'a'.repeat(199) + end })
        expect(found).toEqual([])
        if (end === 'b') expect(processorMs() - began).toBeLessThan(300)
      }
    })

    it('lists those of others that a reader is named in, and none of the reader’s own', async () => {
      const { conversations } = await openData()
      const shared = { read: ['user:ada', 'group:a'], other: ['user:Ada', 'group:ab'], empty: [] }
      for (const [id, access] of Object.entries(shared)) {
        await create(conversations, id, 'user:bob')
        await conversations.change(of(id, 'user:bob'), { access })
      }
      await create(conversations, 'own', 'user:ada')
      await conversations.change(of('own', 'user:ada'), { access: ['group:a'] })
      const list = async (...principals: string[]) =>
        idsOf(await conversations.listShared({ owner: 'user:ada', principals }, { limit: 9 }))
      expect(await list('user:ada', 'group:x', 'public')).toEqual(['read'])
      expect(await list('group:a')).toEqual(['read'])
      expect(await list('user:a', 'group:A')).toEqual([])
      expect(await list()).toEqual([])
    })

    it('shows a conversation to its own key only, and removes it with that', async () => {
      const { conversations, keys } = await openData()
      await keys.add(keyOf('k'), 5)
      await create(conversations, 'c', 'k')
      await conversations.add(of('c', 'k'), { items: itemsOf('a') })
      expect(await conversations.find(of('c'))).toBeUndefined()
      expect(await conversations.items(of('c'))).toEqual([])
      expect(await conversations.remove(of('c'))).toBe(false)
      await expect(conversations.add(of('c'), { items: itemsOf('b') })).rejects.toMatchObject({
        code: 'conversation_not_found',
      })
      expect(await conversations.find(of('c', 'k'))).toMatchObject({ id: 'c' })
      await keys.remove('k')
      expect(await conversations.find(of('c', 'k'))).toBeUndefined()
    })

    it('reads a branch back to its beginning, and continues the chosen one', async () => {
      const { conversations } = await openData()
      await create(conversations, 'c')
      await conversations.add(of('c'), { items: itemsOf('q1', 'a1') })
      await conversations.add(of('c'), { items: itemsOf('q2', 'a2') })
      await conversations.add(of('c'), { items: itemsOf('q3', 'a3'), parent: 'a1' })
      await conversations.add(of('c'), { items: itemsOf('q4'), parent: null })
      expect(idsOf(await conversations.branch(of('c'), 'a3'))).toEqual(['q1', 'a1', 'q3', 'a3'])
      expect(idsOf(await conversations.branch(of('c'), 'q4'))).toEqual(['q4'])
      expect(await conversations.branch(of('c'), 'unknown')).toEqual([])
      expect(await conversations.find(of('c'))).toMatchObject({ lastItem: 'q4' })
      await conversations.change(of('c'), { lastItem: 'a2' })
      await conversations.add(of('c'), { items: itemsOf('q5') })
      expect(idsOf(await conversations.branch(of('c'), 'q5'))).toEqual([
        'q1',
        'a1',
        'q2',
        'a2',
        'q5',
      ])
      expect(await conversations.items(of('c'))).toHaveLength(8)
      const unknown = { code: 'item_not_found' }
      const late = conversations.add(of('c'), { items: itemsOf('x'), parent: 'unknown' })
      await expect(late).rejects.toMatchObject(unknown)
      await expect(conversations.change(of('c'), { lastItem: 'x' })).rejects.toMatchObject(unknown)
    })

    it('closes the gap that a removed item leaves', async () => {
      const { conversations } = await openData()
      await create(conversations, 'c')
      await conversations.add(of('c'), { items: itemsOf('a', 'b', 'c') })
      expect(await conversations.removeItem(itemOf('c', 'b'))).toBe(true)
      expect(await conversations.removeItem(itemOf('c', 'b'))).toBe(false)
      expect(idsOf(await conversations.branch(of('c'), 'c'))).toEqual(['a', 'c'])
      expect(await conversations.removeItem(itemOf('c', 'c'))).toBe(true)
      expect(await conversations.find(of('c'))).toMatchObject({ lastItem: 'a' })
    })

    it('writes an answer until it has ended, and takes it up once', async () => {
      const { conversations } = await openData()
      const answer = itemOf('c', 'a')
      await create(conversations, 'c')
      await conversations.add(of('c'), { items: itemsOf('q', 'a'), isOpen: true })
      expect(await conversations.write(answer, '{"n":1}')).toBe(true)
      const { silentMs, json } = (await conversations.item(answer)) ?? {}
      expect([json, silentMs]).toEqual(['{"n":1}', expect.any(Number)])
      expect(await conversations.end(answer, { json: '{"n":2}' })).toBe(true)
      expect(await conversations.write(answer, '{"n":3}')).toBe(false)
      expect(await conversations.item(answer)).toMatchObject({
        json: '{"n":2}',
        silentMs: undefined,
      })
      const taken = await Promise.all([conversations.reopen(answer), conversations.reopen(answer)])
      expect(taken.toSorted()).toEqual([false, true])
      await conversations.remove(of('c'))
      expect(await conversations.write(answer, '{}')).toBe(false)
      expect(await conversations.item(answer)).toBeUndefined()
    })

    it('refuses more than a conversation may hold', async () => {
      const { conversations } = await openData()
      await create(conversations, 'c')
      const long = { id: 'long', json: JSON.stringify('x'.repeat(49_999_000)) }
      await conversations.add(of('c'), { items: [long] })
      const more = conversations.add(of('c'), { items: [{ ...long, id: 'more' }] })
      await expect(more).rejects.toMatchObject({ code: 'conversation_full' })
      await conversations.add(of('c'), { items: itemsOf('short') })
    })
  })
}
