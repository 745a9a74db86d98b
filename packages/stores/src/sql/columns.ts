import { parseJson } from '@agent-server/lib/text/json.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import {
  DOCUMENT_STATUSES,
  type DocumentContent,
  type DocumentFailure,
  type StoredDocument,
} from '../document-store.ts'
import type { StoredFile } from '../file-store.ts'
import type { StoredSource } from '../source-store.ts'
import { accessListOf } from './access.ts'
import {
  integer,
  oneOf,
  optionalInteger,
  optionalText,
  type Row,
  type Tx,
  text,
  type Value,
} from './query.ts'

/** How a property is stored: the name of its column, and how to read and write it. */
interface Column<T> {
  name: string
  read: (row: Row | undefined, name: string) => T
  write: (value: T) => Value
}

export type Columns<Of> = { [Property in keyof Of]-?: Column<Of[Property]> }

export const plain = <T extends Value>(
  name: string,
  read: (row: Row | undefined, name: string) => T,
): Column<T> => ({ name, read, write: (value) => value })

const BILLIONTHS = 1e9
/** Money is stored in billionths of the currency, which add up exactly. */
export const moneyOf = (stored: number): number => stored / BILLIONTHS
const storedMoney = (amount: number): number => Math.round(amount * BILLIONTHS)

export const money = (name: string): Column<number> => ({
  name,
  read: (row) => moneyOf(integer(row, name)),
  write: storedMoney,
})

export const optionalMoney = (name: string): Column<number | undefined> => ({
  name,
  read: (row) => {
    const stored = optionalInteger(row, name)
    return stored === undefined ? undefined : moneyOf(stored)
  },
  write: (amount) => (amount === undefined ? undefined : storedMoney(amount)),
})

/**
 * A column with JSON; `parse` gets undefined for NULL. What cannot be read any more counts as `damaged`, which allows
 * nobody anything: one damaged row takes no list of others away.
 */
export const json = <T>(
  name: string,
  parse: (value: unknown) => T,
  damaged: T,
  toJson: (value: T & {}) => unknown = (value) => value,
) => ({
  name,
  read: (row: Row | undefined): T => {
    const value = optionalText(row, name)
    const read = value === undefined ? undefined : parseJson(value)
    return value !== undefined && read === undefined ? damaged : parse(read)
  },
  write: (value: T) => (value == null ? null : JSON.stringify(toJson(value))),
})

/**
 * For columns that nothing but this server writes. Zod would double the time that the store's threads take to start.
 */
export const unchecked = <T>(value: unknown) => value as T

/** The name loses characters that PostgreSQL's JSON cannot hold. */
function plainFile({ name, mediaType, size, sha256, notes }: StoredFile): StoredFile {
  const file = { name: name.replaceAll('\0', ' ').toWellFormed(), mediaType, size }
  return { ...file, ...(sha256 && { sha256 }), ...(notes && { notes }) }
}

/** The properties of a revision, which wait in `replacements` while another one is served. */
const CONTENT: Columns<DocumentContent> = {
  title: plain('title', optionalText),
  url: plain('url', optionalText),
  collection: plain('collection', optionalText),
  metadata: json('metadata', unchecked<Metadata | undefined>, undefined),
  access: json('access', unchecked<readonly string[] | undefined>, []),
  file: json('file', unchecked<StoredFile | undefined>, undefined, plainFile),
  characters: plain('characters', integer),
}

type OwnColumns = Omit<StoredDocument, 'source' | 'error'>

/** The columns of `documents`, but for the number and the failure. */
const DOCUMENT: Columns<OwnColumns> = {
  ...CONTENT,
  id: plain('id', text),
  conversation: plain('conversation', optionalText),
  creator: plain('creator', optionalText),
  status: plain('status', (row, name) => oneOf(DOCUMENT_STATUSES, row, name)),
  attempts: plain('attempts', integer),
  revision: plain('revision', integer),
  servedRevision: plain('served_revision', optionalInteger),
  chunkCount: plain('chunk_count', integer),
  createdAt: plain('created_at', integer),
  updatedAt: plain('updated_at', integer),
}

const SOURCE = json('source', unchecked<StoredSource | undefined>, undefined)

/** The names of the columns of a revision. */
export const CONTENT_NAMES = Object.values(CONTENT).map(({ name }) => name)

export function readAll<Of extends object>(columns: Columns<Of>, row: Row | undefined): Of {
  const properties: Partial<Of> = {}
  for (const key in columns) properties[key] = columns[key].read(row, columns[key].name)
  // There is a column for each property.
  return properties as Of
}

/** The given properties by the names of their columns. */
export function writeAll<Of extends object>(
  columns: Columns<Of>,
  input: Partial<Of>,
): Record<string, Value> {
  const values: Record<string, Value> = {}
  for (const key in columns) {
    // A given property may be undefined only if its type says so.
    if (key in input) values[columns[key].name] = columns[key].write(input[key] as Of[typeof key])
  }
  return values
}

/** Reads a row of `documents`, with `source` if it was joined. */
export function toDocument(row: Row | undefined): StoredDocument {
  const source = row?.source === undefined ? undefined : SOURCE.read(row)
  return { ...readAll(DOCUMENT, row), error: toFailure(row), source }
}

/** Reads the columns of a revision. */
export const toContent = (row: Row | undefined) => readAll(CONTENT, row)

/** In bytes of the file, or characters of the text: of a row with these two columns. */
export const sizeIn = (row: Row): number =>
  CONTENT.file.read(row, 'file')?.size ?? CONTENT.characters.read(row, 'characters')

/** Columns of `documents` with their values. */
export function documentColumns({
  error,
  source: _,
  ...own
}: Partial<StoredDocument>): Record<string, Value> {
  const values = writeAll(DOCUMENT, own)
  if ('access' in own) values.access_list = own.access ? accessListOf(own.access) : null
  return error ? { ...values, error_code: error.code, error_message: error.message } : values
}

export const contentColumns = (content: Partial<DocumentContent>) => writeAll(CONTENT, content)

export const sourceColumns = (source: StoredSource) => ({
  source: SOURCE.write(source),
  fetch_at: source.dueAt,
})

export function toFailure(row: Row | undefined): DocumentFailure | undefined {
  const code = optionalText(row, 'error_code')
  return code === undefined ? undefined : { code, message: text(row, 'error_message') }
}

/** Adds a row; `ending` may be a conflict clause, or return columns. */
export function insertInto(
  tx: Tx,
  table: string,
  columns: Readonly<Record<string, Value>>,
  ending = '',
): Promise<Row[]> {
  const names = Object.keys(columns)
  const places = names.map((_, i) => `$${i + 1}`)
  const values = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`
  return tx.all(`${values} ${ending}`, Object.values(columns))
}

/** Sets these columns, and what `more` sets by expressions, of the document with this number. */
export function updateDocument(
  tx: Tx,
  number: number,
  columns: Readonly<Record<string, Value>>,
  more: readonly string[] = [],
  ending = '',
): Promise<Row[]> {
  const set = Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)
  const statement = `UPDATE documents SET ${[...set, ...more].join(', ')} WHERE number = $1 ${ending}`
  return tx.all(statement, [number, ...Object.values(columns)])
}
