import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../lib/thread.ts'
import type { Filter, MetadataValue } from '../../schemas/metadata.ts'
import { textOfChunks } from '../chunk-codec.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { DocumentPage } from '../document-store.ts'
import type { LookupQuery, MetadataField, ValueCount, ValueQuery } from '../lookup.ts'
import { integer, type Row, text, toDocument, toSpan } from '../rows.ts'
import { openForReading } from './connection.ts'
import { toStoreError } from './error.ts'
import { IS_TABLE, toCondition } from './filter.ts'
import { toKeys } from './vectors.ts'

const SERVED = 'served_revision IS NOT NULL'
const FIELDS = `
  SELECT name, kind, count(*) AS documents, min(value) AS least, max(value) AS most
  FROM metadata JOIN documents ON number = document WHERE ${SERVED}
  GROUP BY name, kind ORDER BY documents DESC, name LIMIT ?`
const TEXT = `
  SELECT number, contents.text FROM documents
  JOIN contents ON document = number AND contents.revision = served_revision WHERE id = ?`
// The index spares reading past the texts.
const MATCHING = `
  SELECT json_group_array(key) AS keys FROM chunks INDEXED BY chunks_of_document
  WHERE document IN (SELECT number FROM documents WHERE `
// Of a long text there are the chunks alone: see `completeStaged`.
const CHUNKS = 'SELECT start, end, text FROM chunks WHERE document = ? ORDER BY ordinal'

/** Keys that filters take are kept while nothing is committed, up to so many answers and keys in all. */
const MAX_KEYS_KEPT = 4_000_000
const MAX_ANSWERS_KEPT = 100

const { file }: { file: string } = workerData
let database: DatabaseSync | undefined

function ask<T>(query: (held: DatabaseSync) => T): T {
  try {
    database ??= openForReading(file)
    return query(database)
  } catch (error) {
    throw toStoreError(error)
  }
}

let seenVersion = 0
let keptKeys = 0
const kept = new Map<string, Uint32Array>()

const methods = {
  /** Ascending. */
  matchingKeys: (filter: Filter): Uint32Array =>
    ask((held) => {
      forgetIfChanged(held)
      const name = JSON.stringify(filter)
      const known = kept.get(name)
      if (known) return known
      const { sql, values } = toCondition(filter)
      const keys = toKeys(held.prepare(`${MATCHING}${sql})`).get(...values))
      keep(name, keys)
      return keys
    }),

  findDocuments: ({ filter, tabular, limit, cursor }: LookupQuery): DocumentPage =>
    ask((held) => {
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
      const { sql, values } = conditionOf(filter)
      const table = tabular ? `AND ${IS_TABLE}` : ''
      const rows = held
        .prepare(
          `SELECT * FROM documents WHERE ${SERVED} ${table} AND ${sql} AND number < ?
           ORDER BY number DESC LIMIT ?`,
        )
        .all(...values, before, limit + 1)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const nextCursor =
        rows.length > limit && last ? encodeCursor(integer(last, 'number')) : undefined
      return { documents: shown.map(toDocument), nextCursor }
    }),

  countDocuments: (filter: Filter | undefined): number =>
    ask((held) => {
      const { sql, values } = conditionOf(filter)
      const query = `SELECT count(*) AS n FROM documents WHERE ${SERVED} AND ${sql}`
      return integer(held.prepare(query).get(...values), 'n')
    }),

  metadataFields: (limit: number): MetadataField[] =>
    ask((held) =>
      held
        .prepare(FIELDS)
        .all(limit)
        .map((row) => {
          const kind = toKind(text(row, 'kind'))
          return {
            ...{ name: text(row, 'name'), kind, documents: integer(row, 'documents') },
            ...{ least: toValue(row, 'least', kind), most: toValue(row, 'most', kind) },
          }
        }),
    ),

  metadataValues: ({ field, filter, characters, inOrder, limit }: ValueQuery): ValueCount[] =>
    ask((held) => {
      const { sql, values } = conditionOf(filter)
      const value = characters
        ? `CASE kind WHEN 'string' THEN substr(value, 1, ${Math.trunc(characters)}) ELSE value END`
        : 'value'
      const query = `
        SELECT ${value} AS counted, kind, count(*) AS documents FROM metadata
        WHERE name = ? AND document IN (SELECT number FROM documents WHERE ${SERVED} AND ${sql})
        GROUP BY counted, kind ORDER BY ${inOrder ? 'counted' : 'documents DESC, counted'} LIMIT ?`
      const rows = held.prepare(query).all(field, ...values, limit)
      return rows.map((row) => ({
        value: toValue(row, 'counted', toKind(text(row, 'kind'))),
        documents: integer(row, 'documents'),
      }))
    }),

  readText: (id: string): string | undefined =>
    ask((held) => {
      const row = held.prepare(TEXT).get(id)
      const whole = row && text(row, 'text')
      if (whole !== '') return whole
      const chunks = held.prepare(CHUNKS).all(integer(row, 'number'))
      return textOfChunks(chunks.map(toSpan))
    }),
}

export type LookupMethods = typeof methods

serveThread(methods)

function conditionOf(filter: Filter | undefined): ReturnType<typeof toCondition> {
  return filter ? toCondition(filter) : { sql: 'true', values: [] }
}

function toKind(kind: string): MetadataField['kind'] {
  return kind === 'number' || kind === 'boolean' ? kind : 'string'
}

function toValue(row: Row, column: string, kind: MetadataField['kind']): MetadataValue {
  const value = row?.[column]
  if (kind === 'boolean') return value === 1
  return typeof value === 'number' ? value : String(value)
}

/** https://sqlite.org/pragma.html#pragma_data_version changes with every commit of another connection. */
function forgetIfChanged(held: DatabaseSync): void {
  const version = integer(held.prepare('PRAGMA data_version').get(), 'data_version')
  if (version !== seenVersion) forget()
  seenVersion = version
}

function keep(name: string, keys: Uint32Array): void {
  if (keptKeys + keys.length > MAX_KEYS_KEPT || kept.size >= MAX_ANSWERS_KEPT) forget()
  if (keys.length > MAX_KEYS_KEPT) return
  kept.set(name, keys)
  keptKeys += keys.length
}

function forget(): void {
  kept.clear()
  keptKeys = 0
}
