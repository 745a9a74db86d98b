import type { DocumentSource, TableDocument } from './document-source.ts'
import type { TableFormat } from './table-job.ts'

/** Maximum documents that can be queried as tables; if there are more, the newest. */
const MAX_TABLES = 2_000

export interface TableEntry<Document extends TableDocument> {
  name: string
  /** The document's title, or the name of its file. */
  title: string
  document: Document
  format: TableFormat
}

/** By the lower-case extension of a file's name. */
const FORMATS: readonly (readonly [ending: string, format: TableFormat])[] = Object.entries({
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.xlsx': 'xlsx',
  '.xlsm': 'xlsx',
  '.xlsb': 'xlsx',
  '.xls': 'xlsx',
  '.ods': 'xlsx',
  '.parquet': 'parquet',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
})

/** The documents that are tables, each with the table name used in SQL statements. */
export async function listTableEntries<Document extends TableDocument, Visibility>(
  documents: Pick<DocumentSource<Document, Visibility>, 'list'>,
  visibility: Visibility,
  signal: AbortSignal,
): Promise<TableEntry<Document>[]> {
  const tabular = await Array.fromAsync(documents.list(visibility, MAX_TABLES, signal))
  // Oldest first, so that a new document never takes the name of an older one.
  const entries = tabular.toReversed().flatMap((document) => {
    const format = formatOf(document)
    return format ? [{ title: document.title ?? nameOf(document), document, format }] : []
  })
  const names = distinctNames(entries.map(({ title }) => tableName(title)))
  return entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' }))
}

const nameOf = ({ file, title }: TableDocument) => file?.name ?? title ?? ''

function formatOf(document: TableDocument): TableFormat | undefined {
  const name = nameOf(document).toLowerCase()
  const [, format] = FORMATS.find(([ending]) => name.endsWith(ending)) ?? []
  return format ?? (document.file?.notes?.tables ? 'markdown' : undefined)
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
  const name = /^\d/.test(slug) ? `t_${slug}` : slug
  return RESERVED.has(name) ? `${name}_table` : name
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
    .replaceAll(/^_+|(?<!_)_+$/g, '')
}

/** Makes names unique, ignoring case: a later duplicate gets a number. */
export function distinctNames(names: readonly string[]): string[] {
  const usedNames = new Set<string>()
  return names.map((name) => {
    let [distinct, number] = [name, 2]
    while (usedNames.has(distinct.toLowerCase())) distinct = `${name}_${number++}`
    usedNames.add(distinct.toLowerCase())
    return distinct
  })
}
