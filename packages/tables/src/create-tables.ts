import type { Owner } from '@agent-server/lib/limiter.ts'
import {
  type Job,
  type JobRunner,
  runJobInTurn,
} from '@agent-server/lib/processes/child-process.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { distinctNames, listTableEntries, sheetName, type TableEntry } from './catalogue.ts'
import type { DocumentSource, TableDocument } from './document-source.ts'
import { findStatement, type MatchingRows, type RowCondition, readMatches } from './look-up.ts'
import { TableFiles } from './table-files.ts'
import { type QueryJob, QueryResult, quoteName, type Sheet } from './table-job.ts'

export const QUERY: Job = {
  task: 'The statement',
  advice: 'ask for less',
  module: new URL('./query-tables.ts', import.meta.url),
  run: 'queryTables',
  heapMegabytes: 256,
  residentMegabytes: 1_024,
  mappedMegabytes: 2_048,
  deadlineMs: 20_000,
}
/** Maximum tables in one statement. */
const MAX_VIEWS = 20

export interface Table<Document extends TableDocument> extends Sheet {
  /** Its name in statements. */
  name: string
  /** The sheet, if a workbook has several; empty otherwise. */
  sheet: string
  title: string
  document: Document
  /** The database file that contains it. */
  file: string
}

export interface TableAnswer<Document extends TableDocument> extends QueryResult {
  /** The tables that the statement names. */
  tables: Table<Document>[]
}

export interface RowAnswer<Document extends TableDocument> extends MatchingRows {
  table: Table<Document>
}

/** Who reads. */
interface TableReader<Visibility> {
  visibility: Visibility
  /** Whose share of the jobs it takes. */
  owner: Owner
}

export interface RowQuery<Visibility> extends TableReader<Visibility> {
  /** The table's name in the catalogue. */
  table: string
  /** At least one; all of them must hold. */
  conditions: RowCondition[]
  maximumRows: number
}

export interface TableQuery<Visibility> extends TableReader<Visibility> {
  sql: string
  maximumRows: number
  /** True for statements of this program, which are not checked. */
  isTrusted?: boolean
}

interface Dependencies<Document extends TableDocument, Visibility> {
  /** For what is made of the documents; created when it is needed, and may be deleted. */
  directory: string
  documents: DocumentSource<Document, Visibility>
  run?: JobRunner
}

/** The documents that have tables, to be queried in SQL or row by row. */
export interface Tables<Document extends TableDocument, Visibility> {
  entries(visibility: Visibility, signal: AbortSignal): Promise<TableEntry<Document>[]>
  /** The tables of one document. Throws `Refusal` if it turns out not to be a table. */
  open(entry: TableEntry<Document>, owner: Owner, signal: AbortSignal): Promise<Table<Document>[]>
  /** Finds a table by name. Throws `Refusal` if there is none. */
  find(name: string, reader: TableReader<Visibility>, signal: AbortSignal): Promise<Table<Document>>
  /** Runs one reading statement. Throws `Refusal`, worded for the model. */
  query(query: TableQuery<Visibility>, signal: AbortSignal): Promise<TableAnswer<Document>>
  /** Finds rows of one table. Throws `Refusal`, worded for the model. */
  lookUp(query: RowQuery<Visibility>, signal: AbortSignal): Promise<RowAnswer<Document>>
  close(): void
}

export function createTables<Document extends TableDocument, Visibility>({
  directory,
  documents,
  run = runJobInTurn,
}: Dependencies<Document, Visibility>): Tables<Document, Visibility> {
  const files = new TableFiles({ directory, documents, run })

  const entries = (visibility: Visibility, signal: AbortSignal) =>
    listTableEntries(documents, visibility, signal)

  async function open(
    entry: TableEntry<Document>,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Table<Document>[]> {
    const { name, title, document, format } = entry
    const { file, sheets } = await files.tablesOf({ document, format, owner }, signal)
    const names = distinctNames(
      sheets.map((sheet, index) => (sheet.name ? sheetName(name, sheet.name, index) : name)),
    )
    return sheets.map((sheet, index) => ({
      ...sheet,
      name: names[index] ?? name,
      sheet: sheet.name,
      title,
      document,
      file,
    }))
  }

  const openAll = async (
    matches: readonly TableEntry<Document>[],
    owner: Owner,
    signal: AbortSignal,
  ) => (await Promise.all(matches.map((entry) => open(entry, owner, signal)))).flat()

  async function find(
    name: string,
    { visibility, owner }: TableReader<Visibility>,
    signal: AbortSignal,
  ) {
    const matches = namedIn(name, await entries(visibility, signal)).slice(0, MAX_VIEWS)
    const opened = await openAll(matches, owner, signal)
    const table = opened.find((each) => each.name === name.toLowerCase())
    if (!table) throw new Refusal(noTable(name, opened))
    return table
  }

  return {
    entries,
    open,
    find,
    async query({ sql, maximumRows, visibility, owner, isTrusted = false }, signal) {
      const matches = namedIn(sql, await entries(visibility, signal))
      if (matches.length > MAX_VIEWS) throw new Refusal(`At most ${MAX_VIEWS} tables at once`)
      const tables = await openAll(matches, owner, signal)
      const input: QueryJob = { views: tables.map(toView), sql, maximumRows, isTrusted }
      try {
        return { ...(await run(QUERY, QueryResult, { input, owner }, signal)), tables }
      } catch (error) {
        const missing = error instanceof Refusal ? MISSING.exec(error.message)?.[1] : undefined
        throw missing === undefined ? error : new Refusal(noTable(missing, tables))
      }
    },
    async lookUp({ table: name, conditions, maximumRows, ...reader }, signal) {
      const table = await find(name, reader, signal)
      // Not through a view, which has no row numbers.
      const stored = `file0.main.${quoteName(table.table)}`
      const sql = findStatement(stored, table.columns, conditions, maximumRows)
      const input: QueryJob = { views: [toView(table)], sql, maximumRows, isTrusted: true }
      const { owner } = reader
      return { ...readMatches(await run(QUERY, QueryResult, { input, owner }, signal)), table }
    },
    close: () => files.close(),
  }
}

/** Maximum tables that a refusal names. */
const MAX_NAMED = 20

/** The name of the table that a statement was refused for. */
const MISSING = /^There is no table "([^"]+)"/

function noTable(name: string, tables: readonly { name: string }[]): string {
  const own = tables.filter((table) => table.name.startsWith(`${name.toLowerCase()}__`))
  const names = own.slice(0, MAX_NAMED).map((table) => table.name)
  return `There is no table "${name}": ${own.length > 0 ? `its document has ${names.join(', ')}` : 'list_tables names them'}`
}

const toView = ({ name, file, table }: QueryJob['views'][number]) => ({ name, file, table })

/** The tables whose names occur anywhere in the statement. A view that the statement does not need does no harm. */
function namedIn<Entry extends { name: string }>(sql: string, entries: readonly Entry[]): Entry[] {
  const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
  const roots = new Set([...words].map((word) => word.split('__')[0]))
  return entries.filter(({ name }) => words.has(name) || roots.has(name))
}
