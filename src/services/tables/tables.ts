import { JobExhausted, JobRefusal, runJob } from '../../lib/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import type { FileStore } from '../../stores/file-store.ts'
import type { DocumentLookup } from '../../stores/lookup.ts'
import { distinctNames, listTableEntries, sheetName, type TableEntry } from './catalogue.ts'
import { createTableFiles } from './table-files.ts'
import { createTableIndexes } from './table-indexes.ts'
import {
  FoundRows,
  type LookUpJob,
  QueryResult,
  type RowCondition,
  type Sheet,
  type TableJob,
  type TableView,
} from './table-job.ts'

const ENTRY = new URL('./table-process.ts', import.meta.url)
const LOOKUP_ENTRY = new URL('./lookup-process.ts', import.meta.url)
const QUERY = { heapMegabytes: 512, deadlineMs: 20_000 }
const AT_ONCE = 2
const MAX_WAITING = 50
/** Tables in one statement. */
const MAX_VIEWS = 20

export interface Table extends Sheet {
  /** What statements call it. */
  name: string
  /** The sheet of a workbook of several; empty elsewhere. */
  sheet: string
  title: string
  document: StoredDocument
}

/** A table with the database file that holds it. */
export interface StoredTable extends Table {
  file: string
}

export interface TableAnswer extends QueryResult {
  /** The tables that the statement names. */
  tables: Table[]
}

export interface Tables {
  entries(filter: Filter | undefined, signal: AbortSignal): Promise<TableEntry[]>
  /** The tables of one document. Throws `JobRefusal` where it is none after all. */
  open(entry: TableEntry, signal: AbortSignal): Promise<StoredTable[]>
  /** One statement that reads. Throws `JobRefusal` in words for the model. */
  query(query: TableQuery, signal: AbortSignal): Promise<TableAnswer>
  /** One table by its name. Throws `JobRefusal` where there is none. */
  find(name: string, filter: Filter | undefined, signal: AbortSignal): Promise<StoredTable>
  /** Rows of one table, found through indexes. Throws `JobRefusal` in words for the model. */
  lookUp(query: RowQuery, signal: AbortSignal): Promise<RowAnswer>
  close(): void
}

export interface RowAnswer extends FoundRows {
  table: Table
}

export interface RowQuery {
  /** Its name, as the catalogue has it. */
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
  /** True for statements of our own. */
  isTrusted?: boolean
}

interface Dependencies {
  directory: string
  store: Pick<FileStore, 'readFile'>
  lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'>
}

/** Documents that are tables, as something to ask in SQL. */
export function createTables({ directory, store, lookup }: Dependencies): Tables {
  const semaphore = createSemaphore(AT_ONCE, MAX_WAITING)
  const files = createTableFiles({ directory, store, lookup, semaphore })
  const indexes = createTableIndexes({ directory, semaphore })

  const entries: Tables['entries'] = (filter, signal) => listTableEntries(lookup, filter, signal)

  const open: Tables['open'] = async ({ name, title, document, format }, signal) => {
    const { file, sheets } = await files.get(document, format, signal)
    const names = distinctNames(
      sheets.map((sheet, index) => (sheet.name ? sheetName(name, sheet.name, index) : name)),
    )
    return sheets.map((sheet, index) => ({
      ...sheet,
      ...{ name: names[index] ?? name, sheet: sheet.name, title, document, file },
    }))
  }

  const find: Tables['find'] = async (name, filter, signal) => {
    const named = namedIn(name, await entries(filter, signal)).slice(0, MAX_VIEWS)
    const opened = (await Promise.all(named.map((entry) => open(entry, signal)))).flat()
    const table = opened.find((each) => each.name === name.toLowerCase())
    if (!table) throw new JobRefusal(`There is no table "${name}": list_tables names them`)
    return table
  }

  async function ask(entry: URL, job: TableJob | LookUpJob, signal: AbortSignal): Promise<unknown> {
    try {
      return await semaphore.run(() => runJob(entry, job, QUERY, signal), signal)
    } catch (error) {
      if (!(error instanceof JobExhausted)) throw error
      throw new JobRefusal(`The statement ${error.message}: ask for less`)
    }
  }

  return {
    entries,
    open,
    async query({ sql, maximumRows, filter, isTrusted = false }, signal) {
      const named = namedIn(sql, await entries(filter, signal))
      if (named.length > MAX_VIEWS) throw new JobRefusal(`At most ${MAX_VIEWS} tables at once`)
      const opened = (await Promise.all(named.map((entry) => open(entry, signal)))).flat()
      const views = opened.map(({ name, file, table }): TableView => ({ name, file, table }))
      const job: TableJob = { kind: 'query', views, sql, maximumRows, isTrusted }
      const output = await ask(ENTRY, job, signal)
      return { ...QueryResult.parse(output), tables: opened }
    },
    find,
    async lookUp({ table: name, conditions, maximumRows, filter }, signal) {
      const table = await find(name, filter, signal)
      const file = await indexes.get(table, signal)
      const job: LookUpJob = { file, columns: table.columns, conditions, maximumRows }
      const output = await ask(LOOKUP_ENTRY, job, signal)
      return { ...FoundRows.parse(output), table }
    },
    close() {
      files.close()
      indexes.close()
    },
  }
}

/** The tables whose names stand in the statement, wherever: a view too many does no harm. */
function namedIn(sql: string, entries: readonly TableEntry[]): TableEntry[] {
  const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
  const roots = new Set([...words].map((word) => word.split('__')[0]))
  return entries.filter(({ name }) => words.has(name) || roots.has(name))
}
