export type { TableEntry } from './catalogue.ts'
export {
  createTables,
  QUERY,
  type RowAnswer,
  type RowQuery,
  type Table,
  type TableAnswer,
  type TableQuery,
  type Tables,
} from './create-tables.ts'
export type { DocumentSource } from './document-source.ts'
export { keyKindOf } from './look-up.ts'
export { CONVERSION } from './table-files.ts'
export { type Cell, type QueryResult, quoteName } from './table-job.ts'
