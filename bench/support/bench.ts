import type { Corpus } from './corpus.ts'
import type { SeededData } from './seeded-data.ts'

type Cell = string | number | boolean

/** What a benchmark found: rows of one table, and what has to be known to read it. */
export interface Findings {
  title: string
  rows: Record<string, Cell>[]
  notes: string[]
}

/** What every benchmark is given. */
export interface Bench {
  corpus: Corpus
  seeded: SeededData
  /** A folder of this run, for logs and data that need not outlive it. */
  directory: string
  /** Rounds of each measurement; the figures are medians over them. */
  rounds: number
  /** The sizes of the corpora, in chunks, ascending. */
  sizes: readonly number[]
  /** The number of the only load of streams, from 1; all of them where there is none. */
  load: string | undefined
  /** The `EMBEDDING_MODEL` of first-token; by words where there is none. */
  embedder: string | undefined
  /** The command that starts Chroma, where it is installed. */
  chroma: string | undefined
  /** The folder that LanceDB's package is installed in, where it is. */
  lancedb: string | undefined
  /** Tells the person who waits what is going on. */
  progress(message: string): void
}

/** Whether a figure holds its goal, as the table says it. */
export function verdict(holds: boolean): string {
  return holds ? 'yes' : 'NO'
}

/** The findings as a Markdown table with its columns aligned. */
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
