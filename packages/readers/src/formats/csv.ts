import type { Extracted } from '../extracted.ts'
import { type ChosenDialect, dialectOf } from './csv-dialect.ts'
import { readDelimited } from './delimited-rows.ts'
import { rowsToText } from './xlsx.ts'

const MAX_ROWS = 100_000

/** `isCut` means that the text is only the beginning of the file. */
export function extractCsv(text: string, isCut: boolean, name = ''): Extracted {
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text
  const dialect = dialectOf(whole, name)
  const { rows } = readDelimited(whole.slice(dialect.start), dialect, MAX_ROWS + 1)
  const extracted = rowsToText(rows.slice(0, MAX_ROWS), isCut || rows.length > MAX_ROWS)
  return { text: extracted, ...(dialect.doubt !== undefined && { warnings: [warningOf(dialect)] }) }
}

const warningOf = ({ doubt }: ChosenDialect) => ({
  code: 'uncertain_columns',
  message: `The columns of this file are uncertain: ${doubt}`,
})
