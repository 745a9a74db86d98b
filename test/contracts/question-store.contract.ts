import { MAX_QUESTIONS } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { MAX_CHARACTERS } from '../../packages/stores/src/evaluation-store.ts'
import { type StoreData, useStores } from './open-store.ts'

const question = (id: string, json = `{"question":"${id}?"}`) => ({ id, json })

/** What judged questions rely on. */
export function describeQuestionStore(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)
  const openData = async () => {
    const { store, reopen } = await open()
    const { questions } = store
    const ids = async () => (await questions.list()).map(({ id }) => id)
    return { questions, ids, reopen: async () => (await reopen()).questions }
  }

  describe(`${name} as the store of judged questions`, () => {
    it('keeps them in the order in which they came, also where one is replaced', async () => {
      const { questions, reopen } = await openData()
      const [a, b] = await questions.put([question('a'), question('b', '{"q":"\u{1F9A6} \\" é"}')])
      expect(b).toMatchObject({ id: 'b', json: '{"q":"\u{1F9A6} \\" é"}' })
      await questions.put([question('c')])
      const [again] = await questions.put([question('a', '{"question":"Changed?"}')])
      expect(again).toMatchObject({ json: '{"question":"Changed?"}', createdAt: a?.createdAt })
      expect(again?.updatedAt).toBeGreaterThanOrEqual(a?.updatedAt ?? Number.NaN)
      expect(await (await reopen()).list()).toEqual([
        again,
        b,
        expect.objectContaining({ id: 'c' }),
      ])
    })

    it('removes one, once', async () => {
      const { questions, ids } = await openData()
      await questions.put([question('a'), question('b')])
      expect(await questions.remove('a')).toBe(true)
      expect(await questions.remove('a')).toBe(false)
      expect(await ids()).toEqual(['b'])
    })

    it('takes none of those for which there is no room', async () => {
      const { questions, ids } = await openData()
      await questions.put([question('first')])
      const many = Array.from({ length: MAX_QUESTIONS }, (_, n) => question(`${n}`))
      const long = question('long', 'x'.repeat(MAX_CHARACTERS))
      for (const refused of [many, [long]]) {
        await expect(questions.put(refused)).rejects.toMatchObject({ code: 'too_many_questions' })
      }
      expect(await ids()).toEqual(['first'])
      await questions.put(many.slice(1))
      await questions.put([question('first', '{}')])
      expect(await ids()).toHaveLength(MAX_QUESTIONS)
    })

    it('holds the bound where several come at the same time', async () => {
      const { questions, ids } = await openData()
      await questions.put(Array.from({ length: MAX_QUESTIONS - 1 }, (_, n) => question(`${n}`)))
      const outcomes = await Promise.allSettled(
        ['a', 'b', 'c'].map((id) => questions.put([question(id)])),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await ids()).toHaveLength(MAX_QUESTIONS)
    })
  })
}
