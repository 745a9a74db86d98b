import { z } from 'zod'

export type TableFormat = 'csv' | 'tsv' | 'xlsx' | 'parquet' | 'jsonl'

export const Column = z.object({
  name: z.string(),
  type: z.string(),
  /** How its texts were read, where they could have been read otherwise. */
  guess: z.string().optional(),
})

/** One table of a document; a workbook has one for each sheet. */
export const Sheet = z.object({
  /** Empty where the file is one table. */
  name: z.string(),
  /** Its name in the database file that it was converted to. */
  table: z.string(),
  rows: z.int(),
  columns: z.array(Column),
  /** What stands around it in the file, and what was left out of it. */
  notes: z.array(z.string()).optional(),
})

export const Converted = z.object({ sheets: z.array(Sheet) })

export const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const QueryResult = z.object({
  columns: z.array(Column),
  rows: z.array(z.array(Cell)),
  /** How many rows there are in all; those past the cap are not in `rows`. */
  rowCount: z.int(),
  /** Whether there are more than were counted. */
  isMore: z.boolean(),
})

/** What a row has to have in one column. */
export interface RowCondition {
  /** The column's name, in any case. */
  field: string
  equals?: string | number | boolean | undefined
  prefix?: string | undefined
  from?: string | number | undefined
  to?: string | number | undefined
}

export const FoundRows = z.object({
  rows: z.array(
    z.object({
      /** Its place in the table, from 1; the head does not count. */
      row: z.int(),
      cells: z.array(Cell),
    }),
  ),
  rowCount: z.int(),
  isMore: z.boolean(),
})

/** Reads a file into a database file, a table for each sheet. */
export interface ConvertJob {
  source: string
  format: TableFormat
  target: string
}

/** Writes the rows of a table of the database file `source` into a file with an index for each column. */
export interface IndexJob extends Pick<Sheet, 'table' | 'rows' | 'columns'> {
  source: string
  target: string
}

/** A look-up in the file that an `IndexJob` has written. */
export interface LookUpJob {
  file: string
  columns: Column[]
  conditions: RowCondition[]
  maximumRows: number
}

export interface QueryJob {
  /** What the statement calls each table, and where it is: in which database file, and under which name. */
  views: { name: string; file: string; table: string }[]
  sql: string
  maximumRows: number
  /** True for statements of our own. */
  isTrusted: boolean
}

export type Column = z.output<typeof Column>
export type Converted = z.output<typeof Converted>
export type Sheet = z.output<typeof Sheet>
export type Cell = z.output<typeof Cell>
export type QueryResult = z.output<typeof QueryResult>
export type FoundRows = z.output<typeof FoundRows>
