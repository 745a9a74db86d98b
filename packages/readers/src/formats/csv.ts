import { parse } from 'csv-parse/sync'
import type { Extracted } from '../extracted.ts'
import { rowsToText } from './xlsx.ts'

/** The comma comes last, since it also occurs within titles and notes. */
const DELIMITERS = [';', '\t', '|', ','] as const
const SAMPLE_LINES = 20
const MAX_ROWS = 100_000

/** `isCut` means that the text is only the beginning of the file. */
export function extractCsv(text: string, isCut: boolean): Extracted {
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text
  const rows = parseRows(whole)
  return { text: rowsToText(rows.slice(0, MAX_ROWS), isCut || rows.length > MAX_ROWS) }
}

/** Parses at most `to` rows, including empty ones. Quotation marks are literal if one is never closed. */
export function parseRows(text: string, to = MAX_ROWS + 1): string[][] {
  const options = {
    delimiter: delimiterOf(text),
    bom: true,
    to,
    relax_column_count: true,
    relax_quotes: true,
  }
  try {
    return parse(text, options)
  } catch {
    return parse(text, { ...options, quote: null })
  }
}

/** The delimiter that divides the first lines most evenly. */
export function delimiterOf(text: string): string {
  const sample = text.slice(0, 65_536).split('\n', SAMPLE_LINES)
  const lines = sample.map((line) => line.replaceAll(/"[^"]*"/g, '')).filter(Boolean)
  let best = { delimiter: ',', score: 0 }
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const least = Math.min(...counts)
    const score = least > 0 ? least * lines.length : counts.filter(Boolean).length / 2
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}
