import { signal } from '@preact/signals'
import type { Document, DocumentSort } from '../../packages/client/src/agent-server.ts'
import { formatBytes, formatDate, formatNumber } from '../format.ts'
import { typeName } from './file-types.ts'

interface Column {
  /** The name in the head, and in the list of columns. */
  name: string
  /** What the head sorts by: first this way round, then the other. */
  sorts?: readonly [DocumentSort, DocumentSort]
  /** Numbers stand at the right. */
  isNumber?: boolean
  /** Width in the grid, in rem. */
  width: number
  /** The field of the metadata, where the value can be edited. */
  field?: string
  /** Empty if the document has no such value. */
  textOf: (document: Document) => string | undefined
}

const COLUMNS: Record<string, Column> = {
  collection: {
    name: 'Collection',
    width: 6,
    field: 'collection',
    textOf: ({ metadata }) => metadata?.collection?.toString(),
  },
  type: {
    name: 'Type',
    width: 5.5,
    textOf: ({ file, source }) => (file ? typeName(file.mediaType) : source ? 'Web' : 'Text'),
  },
  characters: {
    name: 'Characters',
    sorts: ['-characters', 'characters'],
    isNumber: true,
    width: 6,
    textOf: ({ characters }) => (characters > 0 ? formatNumber(characters) : undefined),
  },
  chunks: {
    name: 'Passages',
    isNumber: true,
    width: 5,
    textOf: ({ chunks }) => (chunks > 0 ? formatNumber(chunks) : undefined),
  },
  size: {
    name: 'File size',
    isNumber: true,
    width: 6,
    textOf: ({ file }) => file && formatBytes(file.size),
  },
  added: {
    name: 'Added',
    sorts: ['-createdAt', 'createdAt'],
    width: 10,
    textOf: ({ createdAt }) => formatDate(createdAt),
  },
  changed: {
    name: 'Changed',
    sorts: ['-updatedAt', 'updatedAt'],
    width: 10,
    textOf: ({ updatedAt }) => formatDate(updatedAt),
  },
}

/** How the key of a metadata field begins. */
const FIELD = 'metadata.'
const KEY = 'agent-server.columns'
const DEFAULT = ['collection', 'type', 'characters', 'added']
/** A row has no room for more. */
export const MAX_COLUMNS = 6

/** The keys of the columns that are shown, in order; kept in this browser. */
export const chosenColumns = signal<readonly string[]>(storedColumns())

function storedColumns(): readonly string[] {
  const value = localStorage.getItem(KEY)
  return value === null ? DEFAULT : value.split('\n').filter(Boolean).slice(0, MAX_COLUMNS)
}

/** Shows a column, or hides it. */
export function chooseColumn(key: string, isShown: boolean): void {
  const others = chosenColumns.value.filter((one) => one !== key)
  const known = Object.keys(COLUMNS)
  const placeOf = (one: string) => (one in COLUMNS ? known.indexOf(one) : known.length)
  const next = isShown ? [...others, key] : others
  chosenColumns.value = next.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, MAX_COLUMNS)
  localStorage.setItem(KEY, chosenColumns.value.join('\n'))
}

/** The column with this key: of the document, or of a field of its metadata. */
export function columnOf(key: string): Column {
  const own = COLUMNS[key]
  if (own) return own
  const name = key.slice(FIELD.length)
  return { name, width: 8, field: name, textOf: ({ metadata }) => metadata?.[name]?.toString() }
}

/** The options: the document's own fields, the metadata fields of these documents, and fields already shown. */
export function columnChoices(documents: readonly Document[]): string[] {
  const fields = documents.flatMap(({ metadata = {} }) => Object.keys(metadata))
  const keys = fields.filter((name) => name !== 'collection').map((name) => FIELD + name)
  return [...new Set([...Object.keys(COLUMNS), ...chosenColumns.value, ...keys.toSorted()])]
}
