import { z } from 'zod'

export type TableFormat = 'csv' | 'tsv' | 'xlsx' | 'parquet' | 'jsonl' | 'markdown'

export const Column = z.object({
  name: z.string(),
  type: z.string(),
  /** How its texts were read, if they could have been read differently. */
  guess: z.string().optional(),
})

/** One table of a document; a workbook has one or more per sheet. */
export const Sheet = z.object({
  /** Empty if the file is a single table. */
  name: z.string(),
  /** Its name in the database file that it was converted into. */
  table: z.string(),
  rows: z.int(),
  columns: z.array(Column),
  /** Texts around it in the file, and what was left out of it. */
  notes: z.array(z.string()).optional(),
})

export const Converted = z.object({ sheets: z.array(Sheet) })

export const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const QueryResult = z.object({
  columns: z.array(Column),
  rows: z.array(z.array(Cell)),
  /** The number of rows in total; those beyond the cap are not in `rows`. */
  rowCount: z.int(),
  /** Whether there are more rows than were counted. */
  isMore: z.boolean(),
})

/** Converts a file into a database file with its tables. */
export interface ConvertJob {
  source: string
  format: TableFormat
  target: string
}

export interface QueryJob {
  /** The name of each table in the statement, and where it is: its database file and its name there. */
  views: { name: string; file: string; table: string }[]
  sql: string
  maximumRows: number
  /** True for statements of this program, which are not checked. */
  isTrusted: boolean
}

/** Quotes an identifier for SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a string literal for SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export type Column = z.output<typeof Column>
export type Converted = z.output<typeof Converted>
export type Sheet = z.output<typeof Sheet>
export type Cell = z.output<typeof Cell>
export type QueryResult = z.output<typeof QueryResult>
