import { onTestFinished } from 'vitest'
import { describeDocumentLookup } from '../../contracts/document-lookup.contract.ts'
import { createSqliteData } from './store-data.ts'

describeDocumentLookup('SQLite', {
  async create() {
    const data = await createSqliteData()
    const store = await data.open()
    onTestFinished(async () => {
      await store.close()
      await data.remove()
    })
    return store
  },
})
