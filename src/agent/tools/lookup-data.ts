import { countUpTo, filledText } from '@agent-server/lib/fields.ts'
import { shownMetadata } from '@agent-server/lib/labels.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { allOf, type Filter } from '@agent-server/schemas/metadata.ts'
import type { DocumentLookup, StoredDocument } from '@agent-server/stores'
import {
  type Cell,
  keyKindOf,
  type RowAnswer,
  type RowQuery,
  type Table,
} from '@agent-server/tables'
import { z } from 'zod'
import type { Citations } from '../citations/citations.ts'
import { cite } from '../citations/citations.ts'
import { defineTool, type Tool } from './define-tool.ts'
import type { DocumentTables } from './document-tables.ts'

const MAX_FOUND = 50
const MAX_FIELDS = 100
const MAX_CONDITIONS = 10
/** Mostly for the conversion of large files. */
const DEADLINE_MS = 180_000

const Scalar = z.union([filledText(500), z.number(), z.boolean()])
const Bound = z.union([filledText(500), z.number()])

const Condition = z
  .strictObject({
    field: filledText(200),
    equals: Scalar.optional(),
    prefix: filledText(500).optional(),
    from: Bound.optional(),
    to: Bound.optional(),
  })
  .refine(
    ({ equals, prefix, from, to }) => [equals, prefix, from, to].some((part) => part !== undefined),
    { message: 'must have equals, prefix, from or to' },
  )

type Condition = z.output<typeof Condition>

interface Dependencies {
  lookup: Pick<DocumentLookup, 'findDocuments' | 'countDocuments' | 'metadataFields'>
  tables: Pick<DocumentTables, 'find' | 'lookUp'>
}

/** Exact look-ups in the metadata of documents and the rows of tables, using indexes. */
export function lookupData({ lookup, tables }: Dependencies): Tool {
  return defineTool({
    name: 'lookup_data',
    title: 'Look up data',
    description:
      'Find documents by metadata, or rows of a table. Without conditions, lists the fields.',
    input: z.object({
      table: filledText(200).optional(),
      conditions: z.array(Condition).max(MAX_CONDITIONS).default([]),
      limit: countUpTo(MAX_FOUND).default(20),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ table, conditions, limit }, { citations, visibility, share: owner }, signal) {
      if (table !== undefined) {
        const query = { table, conditions, maximumRows: limit, visibility, owner }
        return lookUpTable(tables, query, citations, signal)
      }
      if (conditions.length === 0) return listFields(lookup, visibility, signal)
      const filter = allOf(...conditions.map(toFilter))
      const [{ documents }, count] = await Promise.all([
        lookup.findDocuments(visibility, { filter, limit }, signal),
        lookup.countDocuments(visibility, filter, signal),
      ])
      if (count === 0) return 'No document fits.'
      const lines = documents.map((document) => render(document, citations))
      return `${count} documents fit, ${lines.length} follow.\n${lines.join('\n')}`
    },
  })
}

async function listFields(
  lookup: Pick<DocumentLookup, 'metadataFields'>,
  visibility: Visibility,
  signal: AbortSignal,
): Promise<string> {
  const fields = await lookup.metadataFields(visibility, { limit: MAX_FIELDS }, signal)
  if (fields.length === 0) return 'No document has metadata.'
  const lines = fields.map(
    ({ name, kind, documents, least, most }) =>
      `- ${name}: ${kind}, in ${documents} documents, from ${least} to ${most}`,
  )
  return `The fields of the metadata:\n${lines.join('\n')}`
}

/** A prefix becomes a range: from the prefix up to the prefix followed by the highest code point. */
function toFilter({ field, equals, prefix, from, to }: Condition): Filter | undefined {
  return allOf(
    equals === undefined ? undefined : { field, eq: equals },
    prefix === undefined ? undefined : { field, gte: prefix, lt: `${prefix}\u{10ffff}` },
    from === undefined ? undefined : { field, gte: from },
    to === undefined ? undefined : { field, lte: to },
  )
}

function render(document: StoredDocument, citations: Citations): string {
  const { id, title = '' } = document
  const pairs = Object.entries(shownMetadata(document) ?? {}).map(
    ([name, value]) => `${name}=${JSON.stringify(value)}`,
  )
  const line = pairs.join(', ')
  const source = cite(citations, document, { id: `${id}-metadata`, text: `Metadata: ${line}` })
  return `${source} ${title.replaceAll(/\s+/g, ' ') || id}: ${line}`
}

/** The matching rows of a table, each as a citable source; without conditions, its columns. */
async function lookUpTable(
  tables: Pick<DocumentTables, 'find' | 'lookUp'>,
  query: RowQuery<Visibility>,
  citations: Citations,
  signal: AbortSignal,
): Promise<string> {
  if (query.conditions.length === 0) {
    return describe(await tables.find(query.table, query, signal))
  }
  const { rows, rowCount, isMore, table } = await tables.lookUp(query, signal)
  if (rowCount === 0) return `No row of ${table.name} fits.`
  const count = isMore ? `More than ${rowCount}` : String(rowCount)
  const lines = rows.map((row) => renderRowsFound(row, table, citations))
  return `${count} rows of ${table.name} fit, ${lines.length} follow.\n${lines.join('\n')}`
}

function describe({ name, title, rows, columns }: Table<StoredDocument>): string {
  const lines = columns.map((column) => `- ${column.name}: ${column.type}`)
  return `The columns of ${name} (${title}, ${rows} rows):\n${lines.join('\n')}`
}

function renderRowsFound(
  { row, cells }: RowAnswer<StoredDocument>['rows'][number],
  { name: tableName, sheet, table, title, columns, document }: Table<StoredDocument>,
  citations: Citations,
): string {
  const line = columns
    .map(({ name, type }, index) => `${name}=${toText(cells[index] ?? null, type)}`)
    .join(', ')
  const source = cite(
    citations,
    { ...document, title },
    {
      id: `${document.id}-${document.servedRevision}-${table}-row-${row}`,
      text: `Row ${row} of ${tableName}: ${line}`,
      row,
      ...(sheet !== '' && { sheet }),
    },
  )
  return `${source} row ${row}: ${line}`
}

/** Quotes texts, to distinguish them from the names around them. */
function toText(cell: Cell, type: string): string {
  const isText = typeof cell === 'string' && keyKindOf(type) === 'text'
  return isText ? JSON.stringify(cell) : String(cell ?? '')
}
