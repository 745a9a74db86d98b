import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import type { SheetTable } from '@agent-server/readers'

const TABLE = /^\|.*\|\n\|(?: --- \|)+(?:\n\|.*\|)*$/gm

/**
 * The tables of a text in the Markdown that readers of files write, each with the line above it. One that goes on at the
 * top of the next page, under the same head, is one table.
 */
export function markdownTables(text: string): SheetTable[] {
  const tables: SheetTable[] = []
  let end = 0
  for (const match of text.matchAll(TABLE)) {
    const between = text.slice(end, match.index)
    end = match.index + match[0].length
    const [head = [], , ...rows] = match[0].split('\n').map(cellsOf)
    const last = tables.at(-1)
    const isAcross = between.trim() === '' && between.includes(PAGE_BREAK)
    if (last && isAcross && last.head?.join('|') === head.join('|')) {
      for (const row of rows) last.rows.push(row)
    } else tables.push({ notes: notesIn(between), head, first: 0, rows })
  }
  return tables
}

const cellsOf = (line: string) =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())

function notesIn(text: string): string[] {
  const note = text.trimEnd().split('\n').at(-1)?.replace(/^#+ /, '').trim()
  return note ? [note] : []
}
