import { describe, onTestFinished } from 'vitest'
import { describeDocumentLookup } from '../../contracts/document-lookup.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('Documents in a database (needs PostgreSQL)', () => {
  describeDocumentLookup('PostgreSQL', {
    async create() {
      const data = await createPostgresData()
      const store = await data.open()
      onTestFinished(async () => {
        await store.close()
        await data.remove()
      })
      return store
    },
  })
})
