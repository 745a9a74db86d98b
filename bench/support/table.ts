import type { Cell, Findings } from './bench.ts'

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
