import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresCorpus } from '../../../packages/stores/src/postgres/corpus.ts'
import { createSqliteCorpus } from '../../../packages/stores/src/sqlite/corpus.ts'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { describeCorpus, describeCorpusCopy } from '../../contracts/corpus.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('The whole corpus (needs PostgreSQL)', () => {
  const open = async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    return data
  }

  const createPlace = async () => {
    const data = await open()
    return { corpus: createPostgresCorpus(data.url), open: data.open }
  }
  const createSource = async () => {
    const data = await createSqliteData()
    onTestFinished(() => data.remove())
    return { corpus: createSqliteCorpus(data.directory), open: data.open }
  }

  describeCorpus('PostgreSQL', createPlace)
  describeCorpusCopy('from SQLite to PostgreSQL', createSource, createPlace)

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
