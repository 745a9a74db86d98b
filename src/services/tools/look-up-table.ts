import type { Citations } from '../agent/citations.ts'
import type { RowAnswer, Table, Tables } from '../tables/create-tables.ts'
import { keyKindOf } from '../tables/row-key.ts'
import type { Cell, RowCondition } from '../tables/table-job.ts'
import type { ToolContext } from './define-tool.ts'
import { tellRefusal } from './tell-refusal.ts'

interface FieldCondition extends Omit<RowCondition, 'column'> {
  field: string
}

interface LookUp {
  table: string
  conditions: readonly FieldCondition[]
  limit: number
}

/** The rows of a table that fit, each a source to cite; without conditions its columns. */
export function lookUpTable(
  tables: Pick<Tables, 'find' | 'lookUp'>,
  { table: name, conditions, limit }: LookUp,
  { filter, citations }: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  return tellRefusal(async () => {
    if (conditions.length === 0) return describe(await tables.find(name, filter, signal))
    const wanted = conditions.map(({ field, ...rest }) => ({ column: field, ...rest }))
    const query = { table: name, conditions: wanted, maximumRows: limit, filter }
    const answer = await tables.lookUp(query, signal)
    if (answer.rowCount === 0) return `No row of ${answer.table.name} fits.`
    const count = answer.isMore ? `More than ${answer.rowCount}` : String(answer.rowCount)
    const lines = answer.rows.map((row) => render(row, answer.table, citations))
    return `${count} rows of ${answer.table.name} fit, ${lines.length} follow.\n${lines.join('\n')}`
  })
}

function describe({ name, title, rows, columns }: Table): string {
  const lines = columns.map((column) => `- ${column.name}: ${column.type}`)
  return `The columns of ${name} (${title}, ${rows} rows):\n${lines.join('\n')}`
}

function render(
  { row, cells }: RowAnswer['rows'][number],
  { name: called, sheet, table, title, columns, document }: Table,
  citations: Citations,
): string {
  const told = columns.map(
    ({ name, type }, index) => `${name}=${toText(cells[index] ?? null, type)}`,
  )
  const [added] = citations.add([
    {
      id: `${document.id}-${document.servedRevision}-${table}-row-${row}`,
      ...{ score: 1, title, documentId: document.id, start: 0, end: 0, row },
      text: `Row ${row} of ${called}: ${told.join(', ')}`,
      ...(sheet !== '' && { sheet }),
      ...(document.url !== undefined && { url: document.url }),
      ...(document.metadata && { metadata: document.metadata }),
    },
  ])
  return `[${added?.number}] row ${row}: ${told.join(', ')}`
}

/** Texts in quotes, so that they are told from the names around them. */
function toText(cell: Cell, type: string): string {
  const isText = typeof cell === 'string' && keyKindOf(type) === 'text'
  return isText ? JSON.stringify(cell) : String(cell ?? '')
}
