import { JobExhausted, JobRefusal, runJob } from '../../lib/job-process.ts'
import { createSlots } from '../../lib/slots.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { DocumentLookup } from '../../stores/document-lookup.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import type { FileStore } from '../../stores/file-store.ts'
import { listTableEntries, type TableEntry } from './table-catalogue.ts'
import { createTableFiles } from './table-files.ts'
import { QueryResult, type Sheet, type TableJob, type TableView } from './table-job.ts'
import { distinctNames, sheetName } from './table-name.ts'

const ENTRY = new URL('./table-process.ts', import.meta.url)
const QUERY = { heapMegabytes: 512, deadlineMilliseconds: 20_000 }
const AT_ONCE = 2
const MOST_WAITING = 50
/** Tables in one statement. */
const MOST_VIEWS = 20

export interface Table extends Sheet {
  name: string
  title: string
  document: StoredDocument
}

export interface TableAnswer extends QueryResult {
  /** The tables that the statement names. */
  tables: Table[]
}

export interface Tables {
  entries(filter: Filter | undefined, signal: AbortSignal): Promise<TableEntry[]>
  /** The tables of one document. Throws `JobRefusal` where it is none after all. */
  open(entry: TableEntry, signal: AbortSignal): Promise<(Table & { file: string })[]>
  /** One statement that reads. Throws `JobRefusal` in words for the model. */
  query(query: TableQuery, signal: AbortSignal): Promise<TableAnswer>
  close(): void
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
  const slots = createSlots(AT_ONCE, MOST_WAITING)
  const files = createTableFiles({ directory, store, lookup, slots })

  const entries: Tables['entries'] = (filter, signal) => listTableEntries(lookup, filter, signal)

  const open: Tables['open'] = async ({ name, title, document, format }, signal) => {
    const { file, sheets } = await files.get(document, format, signal)
    const names = distinctNames(
      sheets.map((sheet, index) => (sheet.name ? sheetName(name, sheet.name, index) : name)),
    )
    return sheets.map((sheet, index) => ({
      ...sheet,
      ...{ name: names[index] ?? name, title, document, file },
    }))
  }

  return {
    entries,
    open,
    async query({ sql, maximumRows, filter, isTrusted = false }, signal) {
      const named = namedIn(sql, await entries(filter, signal))
      if (named.length > MOST_VIEWS) throw new JobRefusal(`At most ${MOST_VIEWS} tables at once`)
      const opened = (await Promise.all(named.map((entry) => open(entry, signal)))).flat()
      const views = opened.map(({ name, file, table }): TableView => ({ name, file, table }))
      const job: TableJob = { kind: 'query', views, sql, maximumRows, isTrusted }
      try {
        const output = await slots.run(() => runJob(ENTRY, job, QUERY, signal), signal)
        return { ...QueryResult.parse(output), tables: opened }
      } catch (error) {
        if (!(error instanceof JobExhausted)) throw error
        throw new JobRefusal(`The statement ${error.message}: ask for less`)
      }
    },
    close: files.close,
  }
}

/** The tables whose names stand in the statement, wherever: a view too many does no harm. */
function namedIn(sql: string, entries: readonly TableEntry[]): TableEntry[] {
  const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
  const roots = new Set([...words].map((word) => word.split('__')[0]))
  return entries.filter(({ name }) => words.has(name) || roots.has(name))
}
