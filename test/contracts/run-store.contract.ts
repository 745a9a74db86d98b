import { RUN_BOUNDS } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { openStore, type StoreData } from './open-store.ts'

interface RunData extends StoreData {
  /** Makes each run that is kept as large as this, in UTF-16 code units. */
  resize(characters: number): Promise<unknown>
}

/** What the run view relies on. */
export function describeRunStore(name: string, createData: () => Promise<RunData>): void {
  describe(`${name} as the store of runs`, () => {
    const run = (id: string, answerId?: string, owner?: string) => ({
      id,
      answerId,
      owner,
      summary: `{"id":"${id}"}`,
      json: `{"id":"${id}","more":true}`,
    })

    it('keeps the newest, also after a restart', async () => {
      const { store, reopen } = await openStore(createData)
      await store.runRecords.add([run('a', 'of-a')], 2)
      await store.runRecords.add([run('b', 'of-b'), run('c', 'of-c')], 2)
      const { runRecords } = await reopen()
      expect(await runRecords.list({ limit: 9 })).toEqual(['{"id":"c"}', '{"id":"b"}'])
      expect(await runRecords.list({ limit: 1 })).toEqual(['{"id":"c"}'])
      expect(await runRecords.list({ limit: 9, answerId: 'of-b' })).toEqual(['{"id":"b"}'])
      expect(await runRecords.find('b')).toBe(run('b').json)
      expect(await runRecords.find('a')).toBeUndefined()
    })

    it('keeps nothing of a person who is removed, also if it comes later', async () => {
      const { store } = await openStore(createData)
      const { people, runRecords } = store
      for (const id of ['user:ada', 'user:bob'])
        await people.see({ id, name: undefined, email: undefined, groups: [] })
      await runRecords.add([run('a', 'of-a', 'user:ada')], 9)
      await runRecords.add([run('b', 'of-b', 'user:bob')], 9)
      await people.remove('user:ada')
      await runRecords.add([run('c', 'of-c', 'user:ada')], 9)
      expect(await runRecords.list({ limit: 9 })).toEqual(['{"id":"b"}'])
    })

    it('keeps no more than there is room for', async () => {
      const data = await createData()
      const { store } = await openStore(async () => data)
      const { runRecords } = store
      await runRecords.add(
        ['a', 'b', 'c'].map((id) => run(id)),
        99,
      )
      await data.resize(RUN_BOUNDS.maximumCharacters / 2 - 100)
      await runRecords.add([run('d')], 99)
      expect(await runRecords.list({ limit: 9 })).toEqual([
        '{"id":"d"}',
        '{"id":"c"}',
        '{"id":"b"}',
      ])
    })
  })
}
