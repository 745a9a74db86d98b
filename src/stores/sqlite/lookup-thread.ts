import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../lib/processes/thread.ts'
import type { Filter } from '../../schemas/metadata.ts'
import { toCondition } from '../sql/filter.ts'
import { createLookup } from '../sql/lookup.ts'
import type { Statement, Value } from '../sql/query.ts'
import { integer, type Row } from '../sql/rows.ts'
import { createRunner, openForReading } from './connection.ts'
import { FOLD, SQLITE, toKeys } from './dialect.ts'
import { toStoreError } from './error.ts'

// With this index the query does not have to read past the texts.
const MATCHING = `
  SELECT json_group_array(key) AS keys FROM chunks INDEXED BY chunks_of_document
  WHERE document IN (SELECT number FROM documents WHERE `

/** The keys that match a filter are cached until the next commit, up to this many keys and filters. */
const MAX_KEYS_KEPT = 4_000_000
const MAX_ANSWERS_KEPT = 100

const { file }: { file: string } = workerData
let run: ReturnType<typeof createRunner> | undefined

function ask(statement: Statement, values: readonly Value[] = []): Row[] {
  try {
    run ??= createRunner(open())
    return run(statement, values)
  } catch (error) {
    throw toStoreError(error)
  }
}

function open(): DatabaseSync {
  const database = openForReading(file)
  const fold = (text: unknown) => (typeof text === 'string' ? text.toLowerCase() : null)
  database.function(FOLD, { deterministic: true }, fold)
  return database
}

let seenVersion = 0
let keptKeys = 0
const kept = new Map<string, Uint32Array>()

const methods = {
  /** Returns the keys in ascending order. */
  matchingKeys(filter: Filter): Uint32Array {
    forgetIfChanged()
    const name = JSON.stringify(filter)
    const known = kept.get(name)
    if (known) return known
    const { sql, values } = toCondition(filter, SQLITE)
    const [row] = ask({ made: `${MATCHING}${sql})` }, values)
    const keys = toKeys(row)
    keep(name, keys)
    return keys
  },

  ...createLookup(async (statement, values) => ask(statement, values), SQLITE),
}

export type LookupMethods = typeof methods

serveThread(methods)

/** https://sqlite.org/pragma.html#pragma_data_version changes with every commit of another connection. */
function forgetIfChanged(): void {
  const [row] = ask('PRAGMA data_version')
  const version = integer(row, 'data_version')
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
