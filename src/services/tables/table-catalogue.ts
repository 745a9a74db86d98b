import type { Filter } from '../../schemas/metadata.ts'
import { type DocumentLookup, TABLE_ENDINGS } from '../../stores/document-lookup.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import type { TableFormat } from './table-job.ts'
import { distinctNames, tableName } from './table-name.ts'

/** Documents that can be asked as tables; the newest, where there are more. */
export const MOST_TABLES = 2_000
const PAGE = 500

export interface TableEntry {
  name: string
  /** Of the document, or the name of its file. */
  title: string
  document: StoredDocument
  format: TableFormat
}

const FORMATS: Record<(typeof TABLE_ENDINGS)[number], TableFormat> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.xlsx': 'xlsx',
  '.parquet': 'parquet',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
}

/** The documents that are tables, each with the name that statements call it by. */
export async function listTableEntries(
  lookup: Pick<DocumentLookup, 'findDocuments'>,
  filter: Filter | undefined,
  signal: AbortSignal,
): Promise<TableEntry[]> {
  const found: Omit<TableEntry, 'name'>[] = []
  let cursor: string | undefined
  do {
    const page = await lookup.findDocuments(
      { tabular: true, filter, limit: PAGE, ...(cursor && { cursor }) },
      signal,
    )
    found.push(...page.documents.flatMap(toEntry))
    cursor = page.nextCursor
  } while (cursor !== undefined && found.length < MOST_TABLES)
  // The oldest first, so that a new document takes no name from an old one.
  const entries = found.slice(0, MOST_TABLES).toReversed()
  const names = distinctNames(entries.map(({ title }) => tableName(title)))
  return entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' }))
}

function toEntry(document: StoredDocument): Omit<TableEntry, 'name'>[] {
  const told = document.file?.name ?? document.title ?? ''
  const ending = TABLE_ENDINGS.find((known) => told.toLowerCase().endsWith(known))
  if (ending === undefined) return []
  return [{ title: document.title ?? told, document, format: FORMATS[ending] }]
}
