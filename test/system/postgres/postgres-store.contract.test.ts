import { describe } from 'vitest'
import { describeDocumentStore } from '../../contracts/document-store.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('The document store (needs PostgreSQL)', () => {
  describeDocumentStore('PostgreSQL', createPostgresData)
})
