import { MAX_EVALUATIONS } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { openStore, type StoreData } from './open-store.ts'

export interface AgeingData extends StoreData {
  /** Makes all that the store holds of evaluations older. */
  age(milliseconds: number): Promise<unknown>
}

const run = (id: string) => ({ id, json: `{"name":"${id}"}`, total: 3 })

/** What evaluations rely on. */
export function describeEvaluationStore(name: string, createData: () => Promise<AgeingData>): void {
  const openData = async () => {
    const data = await createData()
    const { store, reopen } = await openStore(async () => data)
    const reopened = async () => (await reopen()).evaluations
    return { evaluations: store.evaluations, reopen: reopened, age: data.age }
  }

  describe(`${name} as the store of evaluations`, () => {
    it('keeps how far one is, and how it ended, once', async () => {
      const { evaluations, reopen } = await openData()
      const begun = await evaluations.begin(run('a'))
      expect(begun).toMatchObject({ ...run('a'), state: 'running', asked: 0 })
      expect(await evaluations.heartbeat({ id: 'a', asked: 2 })).toBe(true)
      expect(await evaluations.list()).toMatchObject([{ id: 'a', state: 'running', asked: 2 }])
      const end = { id: 'a', state: 'done', asked: 3, measures: '{"m":1}', report: '[1]' } as const
      expect(await evaluations.end(end)).toBe(true)
      expect(await evaluations.end({ id: 'a', state: 'cancelled', asked: 3 })).toBe(false)
      expect(await evaluations.heartbeat({ id: 'a', asked: 1 })).toBe(false)
      const later = await reopen()
      expect(await later.find('a')).toMatchObject({ ...run('a'), ...end, error: undefined })
      expect((await later.list())[0]).not.toHaveProperty('report')
      expect(await later.find('b')).toBeUndefined()
    })

    it('begins one at a time', async () => {
      const { evaluations } = await openData()
      const outcomes = await Promise.allSettled(['a', 'b'].map((id) => evaluations.begin(run(id))))
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      await expect(evaluations.begin(run('c'))).rejects.toMatchObject({
        code: 'evaluation_running',
      })
      expect(await evaluations.list()).toHaveLength(1)
    })

    it('counts one as interrupted whose server has been silent for a minute', async () => {
      const { evaluations, age } = await openData()
      await evaluations.begin(run('a'))
      await age(59_000)
      expect(await evaluations.find('a')).toMatchObject({ state: 'running' })
      await age(2_000)
      expect(await evaluations.find('a')).toMatchObject({ state: 'interrupted' })
      await evaluations.begin(run('b'))
      expect(await evaluations.heartbeat({ id: 'a', asked: 1 })).toBe(false)
      const states = (await evaluations.list()).map(({ id, state }) => `${id} ${state}`)
      expect(states).toEqual(['b running', 'a interrupted'])
    })

    it('keeps the last', async () => {
      const { evaluations } = await openData()
      for (let n = 0; n <= MAX_EVALUATIONS; n += 1) {
        await evaluations.begin(run(`${n}`))
        await evaluations.end({ id: `${n}`, state: 'failed', asked: 0, error: 'The model is down' })
      }
      const kept = await evaluations.list()
      expect(kept).toHaveLength(MAX_EVALUATIONS)
      expect(kept[0]).toMatchObject({ id: `${MAX_EVALUATIONS}`, error: 'The model is down' })
      expect(kept.at(-1)?.id).toBe('1')
    })
  })
}
