import type { Document } from '../../packages/client/src/agent-server.ts'

/** How the text of a document is written: in Markdown, with rows as lists, as a mail, or as it was in the file. */
export type TextForm = 'markdown' | 'sheet' | 'mail' | 'plain'

const FORMS: readonly (readonly [RegExp, TextForm])[] = [
  [/^message\/|^application\/(?:vnd\.ms-outlook|mbox)/, 'mail'],
  [/^text\/(?:csv|tab-separated-values)|excel|spreadsheet|parquet/, 'sheet'],
  [/^(?:text\/(?!markdown|html)|application\/(?:pdf|json)|image\/)/, 'plain'],
]

export const formOf = ({ file }: Pick<Document, 'file'>): TextForm =>
  FORMS.find(([types]) => file && types.test(file.mediaType))?.[1] ?? 'markdown'

/** Above this, a table is harder to read than the list. */
const MAX_COLUMNS = 40
const ROW = /^- \S/
/** The name of a cell, after the mark of a quote that begins with it. */
const CELL = /^([\uE000\uE001]*)([^:]{1,100}): /

/** Rows that are written as `- name: value; name: value` become a table of Markdown. */
export function withTables(text: string): string {
  const lines = text.split('\n')
  const result: string[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at
    while (end < lines.length && ROW.test(lines[end] ?? '')) end++
    const rows = lines.slice(at, end)
    result.push(...(rows.length > 0 ? (tableOf(rows) ?? rows) : [lines[at] ?? '']))
    at = Math.max(end, at + 1)
  }
  return result.join('\n')
}

function tableOf(lines: readonly string[]): string[] | undefined {
  const rows = lines.map(cellsOf)
  const columns: string[] = []
  for (const row of rows) {
    let place = -1
    // Empty cells are not written: a new one stands after the one before it.
    for (const name of row.keys()) {
      const known = columns.indexOf(name)
      place = known === -1 ? place + 1 : known
      if (known === -1) columns.splice(place, 0, name)
    }
    if (row.size === 0 || columns.length > MAX_COLUMNS) return undefined
  }
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const body = rows.map((row) => rowOf(columns.map((name) => row.get(name) ?? '')))
  // An empty line before it: a table does not interrupt a paragraph.
  return ['', rowOf(columns), `|${' --- |'.repeat(columns.length)}`, ...body, '']
}

/** The cells of a row by the names of their columns; none if it is no row. A value may have semicolons. */
function cellsOf(line: string): Map<string, string> {
  const cells = new Map<string, string>()
  let last = ''
  for (const part of line.slice(2).replaceAll('|', '\\|').split('; ')) {
    const [head, mark = '', name = ''] = CELL.exec(part) ?? []
    if (head !== undefined && !cells.has(name)) {
      last = name
      cells.set(name, mark + part.slice(head.length))
    } else if (last === '') return new Map()
    else cells.set(last, `${cells.get(last)}; ${part}`)
  }
  return cells
}

const HEADER = /^([\uE000\uE001]*)(From|To|Cc|Bcc|Reply-To|Date): /gm
/** Below a line of words, these would make it a heading. */
const UNDERLINE = /^(?=[-=]+ *$)/gm

/** A mail as Markdown that keeps its lines. */
export const mailAsMarkdown = (text: string): string =>
  text
    .replaceAll(HEADER, '$1**$2:** ')
    .replaceAll(UNDERLINE, '\\')
    .replaceAll(/(?<=\S)\n(?=\S)/g, '  \n')
