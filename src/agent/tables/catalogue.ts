import type { Filter } from '../../schemas/metadata.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import { type DocumentLookup, eachDocument, TABLE_ENDINGS } from '../../stores/lookup.ts'
import type { TableFormat } from './table-job.ts'

/** Maximum documents that can be queried as tables; if there are more, the newest. */
const MAX_TABLES = 2_000

export interface TableEntry {
  name: string
  /** The document's title, or the name of its file. */
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

/** The documents that are tables, each with the table name used in SQL statements. */
export async function listTableEntries(
  lookup: Pick<DocumentLookup, 'findDocuments'>,
  filter: Filter | undefined,
  signal: AbortSignal,
): Promise<TableEntry[]> {
  const found = await Array.fromAsync(
    eachDocument(lookup, { tabular: true, filter }, MAX_TABLES, signal),
  )
  // Oldest first, so that a new document never takes the name of an older one.
  const entries = found.toReversed().flatMap(toEntry)
  const names = distinctNames(entries.map(({ title }) => tableName(title)))
  return entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' }))
}

function toEntry(document: StoredDocument): Omit<TableEntry, 'name'>[] {
  const name = document.file?.name ?? document.title ?? ''
  const ending = TABLE_ENDINGS.find((known) => name.toLowerCase().endsWith(known))
  const found = document.file?.notes?.tables ? 'markdown' : undefined
  const format = ending === undefined ? found : FORMATS[ending]
  return format ? [{ title: document.title ?? name, document, format }] : []
}

const MAX_NAME = 48

/** Reserved words of SQL; a table with such a name would have to be quoted. */
const RESERVED = new Set(
  `all and any as asc between by case cast column create cross desc distinct else end except exists false
  for from full group having in inner intersect into is join left like limit natural not null offset on or
  order outer over pivot qualify right select table then true union unpivot using values when where window
  with`.split(/\s+/),
)

/** The table name for a document with this title or file name. */
export function tableName(title: string): string {
  const slug = slugOf(title.replace(/\.[A-Za-z0-9]{1,8}$/, '')) || 'table'
  const begun = /^\d/.test(slug) ? `t_${slug}` : slug
  return RESERVED.has(begun) ? `${begun}_table` : begun
}

/** The table name of a sheet, `<table>__<sheet>`; a name without letters or digits becomes the number from 1. */
export function sheetName(table: string, sheet: string, index: number): string {
  return `${table}__${slugOf(sheet) || index + 1}`
}

/** Letters of any script are kept: the engine accepts them in names. */
function slugOf(text: string): string {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
  return [...words]
    .slice(0, MAX_NAME)
    .join('')
    .replaceAll(/^_+|_+$/g, '')
}

/** Makes names unique, ignoring case: a later duplicate gets a number. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let [distinct, number] = [name, 2]
    while (taken.has(distinct.toLowerCase())) distinct = `${name}_${number++}`
    taken.add(distinct.toLowerCase())
    return distinct
  })
}
