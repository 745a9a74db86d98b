import { describe, onTestFinished } from 'vitest'
import { createPostgresCorpus } from '../../../src/stores/postgres/corpus.ts'
import { describeCorpus } from '../../contracts/corpus.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('The whole corpus (needs PostgreSQL)', () => {
  describeCorpus('PostgreSQL', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    return { corpus: createPostgresCorpus(data.url), open: data.open }
  })
})
