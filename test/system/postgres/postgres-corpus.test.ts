import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresCorpus } from '../../../packages/stores/src/postgres/corpus.ts'
import { describeCorpus } from '../../contracts/corpus.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('The whole corpus (needs PostgreSQL)', () => {
  const open = async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    return data
  }

  describeCorpus('PostgreSQL', async () => {
    const data = await open()
    return { corpus: createPostgresCorpus(data.url), open: data.open }
  })

  it('distinguishes a missing database from one without permission', async () => {
    const data = await open()
    const read = (url: string) =>
      Array.fromAsync(createPostgresCorpus(url).readCorpus(AbortSignal.timeout(20_000)))
    await expect(read(data.url)).rejects.toThrow(/database contains no documents/)
    const store = await data.open()
    await store.close()
    // A role of every server of PostgreSQL, which may read nothing of ours.
    const url = Object.assign(new URL(data.url), { search: '?options=-c%20role%3Dpg_monitor' })
    await expect(read(url.href)).rejects.toThrow(/the user lacks a privilege/)
  })
})
