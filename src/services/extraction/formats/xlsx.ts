import readSheets from 'read-excel-file/node'
import { createBoundedText } from '../bounded-text.ts'
import type { Extracted } from '../extracted.ts'
import { rowsToText } from './rows-to-text.ts'

/** Sheet by sheet, each under its name. */
export async function extractXlsx(bytes: Buffer): Promise<Extracted> {
  const text = createBoundedText()
  for (const { sheet, data } of await readSheets(bytes)) {
    const rows = rowsToText(data.map((row) => row.map(toCell)))
    if (rows !== '') text.add(`## ${sheet}\n\n${rows}\n`)
  }
  return { text: text.toString() }
}

function toCell(value: unknown): string | number | boolean | Date | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' || value instanceof Date ? value : null
}
