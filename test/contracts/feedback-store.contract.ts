import { describe, expect, it } from 'vitest'
import type { FeedbackQuery, NewFeedback } from '../../packages/stores/src/feedback-store.ts'
import { type StoreData, useStores } from './open-store.ts'

const MASTER = undefined
const keyOf = (id: string) => ({ id, name: id, scopes: [], createdAt: 1, digest: 'd' })
const given = (id: string, answerId: string, more: Partial<NewFeedback> = {}): NewFeedback => ({
  id,
  owner: MASTER,
  conversationId: 'c',
  answerId,
  rating: 'up',
  comment: undefined,
  copy: undefined,
  ...more,
})
const onResponse = (id: string, answerId: string, owner?: string) =>
  given(id, answerId, { owner, conversationId: undefined, copy: '{"answer":"Yes."}' })

/** What feedback relies on. */
export function describeFeedbackStore(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)
  /** A store with a conversation `c` of three answers. */
  const openData = async () => {
    const { store } = await open()
    const { conversations, feedback, keys, responses } = store
    const c = { id: 'c', owner: MASTER }
    await conversations.create({ ...c, metadata: {} })
    await conversations.add(c, { items: ['1', '2', '3'].map((id) => ({ id, json: '{}' })) })
    const listed = async (query: Partial<FeedbackQuery> = {}, owner: string | undefined = MASTER) =>
      (await feedback.list(owner, { limit: 9, ...query })).feedback.map(({ id }) => id)
    const respond = (id: string, owner?: string) =>
      responses.add({ id, name: 'r', mediaType: 'text/plain', bytes: Buffer.from('{}'), owner })
    return { c, conversations, feedback, keys, responses, listed, respond }
  }

  describe(`${name} as the store of feedback`, () => {
    it('keeps one piece for each answer: the second takes the place of the first', async () => {
      const { feedback, listed } = await openData()
      const first = await feedback.put(given('a', '1', { comment: 'Good "\u{1F9A6}' }))
      expect(first).toMatchObject({
        id: 'a',
        conversationId: 'c',
        answerId: '1',
        rating: 'up',
        comment: 'Good "\u{1F9A6}',
        copy: undefined,
      })
      const both = await Promise.all(
        ['b', 'c'].map((id) => feedback.put(given(id, '1', { rating: 'down' }))),
      )
      for (const { id, rating, comment, createdAt } of both) {
        expect({ id, rating, comment, createdAt }).toEqual({
          id: 'a',
          rating: 'down',
          comment: undefined,
          createdAt: first.createdAt,
        })
      }
      expect(await listed()).toEqual(['a'])
    })

    it('lists the newest first, page by page, of one rating or conversation', async () => {
      const { conversations, feedback, listed } = await openData()
      const other = { id: 'other', owner: MASTER }
      await conversations.create({ ...other, metadata: {} })
      await conversations.add(other, { items: [{ id: '1', json: '{}' }] })
      await feedback.put(given('a', '1'))
      await feedback.put(given('b', '2', { rating: 'down' }))
      await feedback.put(given('c', '3'))
      await feedback.put(given('d', '1', { conversationId: 'other' }))
      expect(await listed()).toEqual(['d', 'c', 'b', 'a'])
      expect(await listed({ rating: 'down' })).toEqual(['b'])
      expect(await listed({ conversationId: 'other' })).toEqual(['d'])
      const page = await feedback.list(MASTER, { limit: 2, conversationId: 'c' })
      expect(page.feedback.map(({ id }) => id)).toEqual(['c', 'b'])
      // Also if what the page ended with is gone.
      expect(await feedback.remove({ id: 'b', owner: MASTER })).toBe(true)
      const { nextCursor: cursor } = page
      const next = await feedback.list(MASTER, { limit: 2, conversationId: 'c', cursor })
      expect([next.feedback.map(({ id }) => id), next.nextCursor]).toEqual([['a'], undefined])
      await expect(listed({ cursor: 'unknown' })).rejects.toMatchObject({ param: 'cursor' })
    })

    it('removes it with the answer, the conversation, the response and the key', async () => {
      const { c, conversations, feedback, keys, responses, listed, respond } = await openData()
      await keys.add(keyOf('k'), 5)
      await respond('resp_1')
      await feedback.put(onResponse('r', 'resp_1'))
      await feedback.put(onResponse('s', 'resp_1', 'k'))
      await feedback.put(given('a', '1'))
      await feedback.put(given('b', '2'))
      await conversations.removeItem({ ...c, item: '1' })
      expect(await listed()).toEqual(['b', 'r'])
      await conversations.remove(c)
      expect(await listed()).toEqual(['r'])
      expect(await listed({}, 'k')).toEqual(['s'])
      await keys.remove('k')
      expect(await listed({}, 'k')).toEqual([])
      await responses.remove('resp_1')
      expect(await listed()).toEqual([])
    })

    it('takes feedback on an own answer only, and shows it to its key only', async () => {
      const { feedback, keys, listed, respond } = await openData()
      await keys.add(keyOf('k'), 5)
      await feedback.put(given('a', '1'))
      expect(await listed({}, 'k')).toEqual([])
      expect(await feedback.remove({ id: 'a', owner: 'k' })).toBe(false)
      await respond('resp_1', 'k')
      const stored = await feedback.put(onResponse('r', 'resp_1', 'k'))
      expect(stored).toMatchObject({ answerId: 'resp_1', copy: '{"answer":"Yes."}' })
      expect(stored.conversationId).toBeUndefined()
      await expect(feedback.put(given('x', '1', { owner: 'k' }))).rejects.toMatchObject({
        code: 'conversation_not_found',
      })
      await expect(feedback.put(given('x', 'unknown'))).rejects.toMatchObject({
        code: 'item_not_found',
      })
      await expect(feedback.put(onResponse('x', 'resp_2'))).rejects.toMatchObject({
        code: 'response_not_found',
      })
    })
  })
}
