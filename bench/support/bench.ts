import type { Corpus } from './corpus.ts'
import type { SeededData } from './seeded-data.ts'

type Cell = string | number | boolean

/** What a benchmark found: the rows of one table, and notes needed to interpret it. */
export interface Findings {
  title: string
  rows: Record<string, Cell>[]
  notes: string[]
}

/** What every benchmark is given. */
export interface Bench {
  corpus: Corpus
  seeded: SeededData
  /** A folder for this run, for logs and data that need not outlive it. */
  directory: string
  /** Rounds of each measurement; the figures are medians over the rounds. */
  rounds: number
  /** The sizes of the corpora, in chunks, ascending. */
  sizes: readonly number[]
  /** The number of the only load of `streams` to run, from 1; all of them if undefined. */
  load: string | undefined
  /** The `EMBEDDING_MODEL` of first-token; undefined for search by words. */
  embedder: string | undefined
  /** The command that starts Chroma, if it is installed. */
  chroma: string | undefined
  /** The folder in which LanceDB's package is installed, if it is. */
  lancedb: string | undefined
  /** Whether cost fails if it is above its figures. */
  guard: boolean
  /** Tells the waiting user what is going on. */
  progress(message: string): void
}

/** Whether a figure meets its goal, as written in the table. */
export function verdict(holds: boolean): string {
  return holds ? 'yes' : 'NO'
}

/** Renders the findings as a Markdown table with aligned columns. */
export function renderTable({ title, rows, notes }: Findings): string {
  const head = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cells = [head, ...rows.map((row) => head.map((column) => toText(row[column])))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  const [first = [], ...others] = cells.map(line)
  return [`## ${title}`, '', first, rule, ...others, '', ...notes.map((note) => `- ${note}`), '']
    .flat()
    .join('\n')
}

function toText(cell: Cell | undefined): string {
  return cell === undefined ? '' : String(cell)
}
