import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../lib/thread.ts'
import type { Filter } from '../../schemas/metadata.ts'
import { integer, text } from '../rows.ts'
import { openForReading } from './connection.ts'
import { toStoreError } from './error.ts'
import { toCondition } from './filter.ts'

export interface FilterThreadData {
  file: string
}

/** Answers that are kept for as long as nothing is committed, up to so many, and so many keys in all. */
const MAX_KEYS_KEPT = 4_000_000
const MAX_ANSWERS_KEPT = 100

// The index spares reading past the texts.
const MATCHING = `
  SELECT json_group_array(key) AS keys FROM chunks INDEXED BY chunks_of_document
  WHERE document IN (SELECT number FROM documents WHERE `

const { file }: FilterThreadData = workerData
let database: DatabaseSync | undefined
let seenVersion = 0
let keptKeys = 0
const kept = new Map<string, Uint32Array>()

const methods = {
  /** Ascending. */
  matchingKeys(filter: Filter): Uint32Array {
    try {
      database ??= openForReading(file)
      forgetIfChanged(database)
      const name = JSON.stringify(filter)
      const known = kept.get(name)
      if (known) return known
      const keys = select(database, filter)
      keep(name, keys)
      return keys
    } catch (error) {
      throw toStoreError(error)
    }
  },
}

export type FilterMethods = typeof methods

serveThread(methods)

function select(from: DatabaseSync, filter: Filter): Uint32Array {
  const { sql, values } = toCondition(filter)
  const row = from.prepare(`${MATCHING}${sql})`).get(...values)
  return Uint32Array.from<number>(JSON.parse(text(row, 'keys'))).sort()
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
