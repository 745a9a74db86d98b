import { describeDocumentStore } from '../../contracts/document-store.contract.ts'
import { createSqliteData } from './store-data.ts'

describeDocumentStore('SQLite', createSqliteData)
