import type { QueryResult } from '../tables/table-job.ts'

/** The rows as CSV, which models read well and which costs least. */
export function renderRows({ columns, rows }: Pick<QueryResult, 'columns' | 'rows'>): string {
  const head = columns.map(({ name }) => toField(name)).join(',')
  return [head, ...rows.map((row) => row.map(toField).join(','))].join('\n')
}

function toField(value: QueryResult['rows'][number][number]): string {
  if (value === null) return ''
  const text = String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
