import type { Citations } from '../agent/citations.ts'
import type { Table, TableAnswer } from '../tables/create-tables.ts'

/** Makes each table that was asked a source that the answer can cite, and says under which number. */
export function citeTables(
  { tables, rowCount }: Pick<TableAnswer, 'tables' | 'rowCount'>,
  sql: string,
  citations: Citations,
): string {
  const lines = tables.map((table) => {
    const number = cite(citations, table, sql, rowCount)
    return `[${number}] ${table.name}: ${table.title}`
  })
  return `Sources to cite:\n${lines.join('\n')}`
}

function cite(citations: Citations, { name, title, document }: Table, sql: string, rows: number) {
  const [added] = citations.add([
    {
      id: `${document.id}-table-${name}-${sql}`,
      ...{ score: 1, title, documentId: document.id, start: 0, end: 0 },
      text: `Table ${name}, asked with ${sql}: ${rows} rows`,
      ...(document.url !== undefined && { url: document.url }),
      ...(document.metadata && { metadata: document.metadata }),
    },
  ])
  return added?.number
}
