import { expect, it, onTestFinished } from 'vitest'
import { describeCorpus } from '../../../../test/contracts/corpus.contract.ts'
import { createSqliteCorpus } from '../../src/sqlite/corpus.ts'
import { createSqliteData } from './store-data.ts'

const { signal } = new AbortController()

async function createPlace() {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  return { ...data, corpus: createSqliteCorpus(data.directory) }
}

describeCorpus('SQLite', createPlace)

it.each([
  ['none', undefined, /There is no database/],
  ['one of an older server', 'PRAGMA user_version = 0', /start this one once/],
  ['one of a newer server', 'PRAGMA user_version = 99', /newer server/],
])('A corpus is not read out of %s', async (_what, change, reason) => {
  const { corpus, open, database } = await createPlace()
  if (change !== undefined) {
    await (await open()).close()
    database().exec(change)
  }
  await expect(Array.fromAsync(corpus.readCorpus(signal))).rejects.toThrow(reason)
})
