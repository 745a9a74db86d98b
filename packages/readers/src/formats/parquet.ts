import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import type { Extracted, SourceFile } from '../extracted.ts'
import type { Cell } from '../sheet-tables.ts'
import { rowsToText } from './xlsx.ts'

const MAX_SHOWN_ROWS = 100

/** The names and types of the columns, and the first rows if their compression is supported. */
export async function extractParquet({ name, bytes }: SourceFile): Promise<Extracted> {
  const file = Uint8Array.from(bytes).buffer
  const metadata = parquetMetadata(file)
  const columns = parquetSchema(metadata).children.map(
    ({ element }) => `- ${element.name}: ${element.logical_type?.type ?? element.type ?? 'group'}`,
  )
  const head = `# ${name}\n\nA Parquet table of ${metadata.num_rows} rows.\n\n## Columns\n\n`
  return { text: `${head}${columns.join('\n')}\n\n${await firstRows(file)}` }
}

async function firstRows(file: ArrayBuffer): Promise<string> {
  try {
    const rows = await parquetReadObjects({ file, rowEnd: MAX_SHOWN_ROWS })
    const names = Object.keys(rows[0] ?? {})
    const cells = rows.map((row) => names.map((name) => toCell(row[name])))
    return `## First rows\n\n${rowsToText([names, ...cells])}`
  } catch {
    // Compressed in a way that only the agent's tools can read; the columns alone are still useful.
    return ''
  }
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined || value instanceof Date) return value
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))
}
