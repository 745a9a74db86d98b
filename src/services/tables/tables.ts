import { createJobRunner, type Job, type JobRunner } from '../../lib/processes/child-process.ts'
import { JobRefusal } from '../../lib/processes/job.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'
import type { DocumentLookup } from '../../stores/lookup.ts'
import { distinctNames, listTableEntries, sheetName, type TableEntry } from './catalogue.ts'
import { createTableFiles } from './table-files.ts'
import {
  FoundRows,
  type LookUpJob,
  type QueryJob,
  QueryResult,
  type RowCondition,
  type Sheet,
} from './table-job.ts'

const ASKING = {
  ...{ task: 'The statement', advice: 'ask for less' },
  ...{ heapMegabytes: 512, residentMegabytes: 1_536, deadlineMs: 20_000 },
}
export const QUERY: Job = {
  ...{ module: new URL('./query-tables.ts', import.meta.url), run: 'queryTables' },
  ...ASKING,
}
export const LOOK_UP: Job = {
  ...{ module: new URL('./look-up-rows.ts', import.meta.url), run: 'lookUpRows' },
  ...ASKING,
}
/** Maximum tables in one statement. */
const MAX_VIEWS = 20

export interface Table extends Sheet {
  /** Its name in statements. */
  name: string
  /** The sheet, if a workbook has several; empty otherwise. */
  sheet: string
  title: string
  document: StoredDocument
  /** The database file that contains it. */
  file: string
}

export interface TableAnswer extends QueryResult {
  /** The tables that the statement names. */
  tables: Table[]
}

export interface RowAnswer extends FoundRows {
  table: Table
}

export interface RowQuery {
  /** The table's name in the catalogue. */
  table: string
  /** At least one; all of them must hold. */
  conditions: RowCondition[]
  maximumRows: number
  filter: Filter | undefined
}

export interface TableQuery {
  sql: string
  maximumRows: number
  filter: Filter | undefined
  /** True for statements of this program, which are not checked. */
  isTrusted?: boolean
}

interface Dependencies {
  directory: string
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'>
  run?: JobRunner
}

export type Tables = ReturnType<typeof createTables>

/** Documents that are tables, to be queried in SQL. */
export function createTables({ directory, store, lookup, run = createJobRunner() }: Dependencies) {
  const files = createTableFiles({ directory, store, lookup, run })

  const entries = (filter: Filter | undefined, signal: AbortSignal) =>
    listTableEntries(lookup, filter, signal)

  /** The tables of one document. Throws `JobRefusal` if it turns out not to be a table. */
  async function open(entry: TableEntry, signal: AbortSignal): Promise<Table[]> {
    const { name, title, document, format } = entry
    const { file, sheets } = await files.tablesOf(document, format, signal)
    const names = distinctNames(
      sheets.map((sheet, index) => (sheet.name ? sheetName(name, sheet.name, index) : name)),
    )
    return sheets.map((sheet, index) => ({
      ...sheet,
      ...{ name: names[index] ?? name, sheet: sheet.name, title, document, file },
    }))
  }

  const openAll = async (named: readonly TableEntry[], signal: AbortSignal) =>
    (await Promise.all(named.map((entry) => open(entry, signal)))).flat()

  /** Finds a table by name. Throws `JobRefusal` if there is none. */
  async function find(name: string, filter: Filter | undefined, signal: AbortSignal) {
    const named = namedIn(name, await entries(filter, signal)).slice(0, MAX_VIEWS)
    const table = (await openAll(named, signal)).find((each) => each.name === name.toLowerCase())
    if (!table) throw new JobRefusal(`There is no table "${name}": list_tables names them`)
    return table
  }

  return {
    entries,
    open,
    find,
    /** Runs one reading statement. Throws `JobRefusal`, worded for the model. */
    async query(
      { sql, maximumRows, filter, isTrusted = false }: TableQuery,
      signal: AbortSignal,
    ): Promise<TableAnswer> {
      const named = namedIn(sql, await entries(filter, signal))
      if (named.length > MAX_VIEWS) throw new JobRefusal(`At most ${MAX_VIEWS} tables at once`)
      const tables = await openAll(named, signal)
      const views = tables.map(({ name, file, table }) => ({ name, file, table }))
      const input: QueryJob = { views, sql, maximumRows, isTrusted }
      return { ...(await run(QUERY, QueryResult, input, signal)), tables }
    },
    /** Finds rows of one table through its indexes. Throws `JobRefusal`, worded for the model. */
    async lookUp(
      { table: name, conditions, maximumRows, filter }: RowQuery,
      signal: AbortSignal,
    ): Promise<RowAnswer> {
      const table = await find(name, filter, signal)
      const file = await files.indexOf(table, signal)
      const input: LookUpJob = { file, columns: table.columns, conditions, maximumRows }
      return { ...(await run(LOOK_UP, FoundRows, input, signal)), table }
    },
    close: files.close,
  }
}

/** The tables whose names occur anywhere in the statement. A view that the statement does not need does no harm. */
function namedIn(sql: string, entries: readonly TableEntry[]): TableEntry[] {
  const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
  const roots = new Set([...words].map((word) => word.split('__')[0]))
  return entries.filter(({ name }) => words.has(name) || roots.has(name))
}
