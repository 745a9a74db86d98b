import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { serveThread } from '@agent-server/lib/processes/thread.ts'
import { foldForms } from '@agent-server/lib/text/forms.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { readVisibleKeys } from '../sql/chunks.ts'
import { createLookup } from '../sql/lookup.ts'
import { integer, type Read, type Row, type Statement, type Value } from '../sql/query.ts'
import { createRunner, openForReading } from './connection.ts'
import { FOLD, SQLITE } from './dialect.ts'
import { toStoreError } from './error.ts'

/** The keys that are visible are cached until the next commit, up to this many keys and answers. */
const MAX_CACHED_KEYS = 4_000_000
const MAX_CACHED_ANSWERS = 100

const { file }: { file: string } = workerData
let run: ReturnType<typeof createRunner> | undefined

function ask(statement: Statement, values: readonly Value[] = []): Row[] {
  try {
    run ??= createRunner(open())
    return run.all(statement, values)
  } catch (error) {
    throw toStoreError(error)
  }
}

const read: Read = async (statement, values) => ask(statement, values)

function open(): DatabaseSync {
  const database = openForReading(file)
  const fold = (text: unknown) =>
    typeof text === 'string' ? foldForms(text).text.toLowerCase() : null
  database.function(FOLD, { deterministic: true }, fold)
  return database
}

let seenVersion = 0
let cachedKeys = 0
const cache = new Map<string, Uint32Array>()

const lookup = createLookup((statement, values) => read(statement, values), SQLITE)
type Lookup = typeof lookup
/** What a query takes; its signal stays in the thread that asks. */
type Input<Name extends keyof Lookup> = [Visibility, Parameters<Lookup[Name]>[1]]

const methods = {
  /** Returns the keys in ascending order. */
  async visibleKeys(visibility: Visibility): Promise<Uint32Array> {
    forgetIfChanged()
    // Whoever reads, the same is seen.
    const name = JSON.stringify({ ...visibility, reader: undefined })
    const cachedResult = cache.get(name)
    if (cachedResult) return cachedResult
    const keys = await readVisibleKeys(read, SQLITE, visibility)
    keep(name, keys)
    return keys
  },

  list: (input: Input<'list'>) => lookup.list(...input),
  countListed: (input: Input<'countListed'>) => lookup.countListed(...input),
  findDocuments: (input: Input<'findDocuments'>) => lookup.findDocuments(...input),
  countDocuments: (input: Input<'countDocuments'>) => lookup.countDocuments(...input),
  collections: (input: Input<'collections'>) => lookup.collections(...input),
  goneConversations: (input: Input<'goneConversations'>) => lookup.goneConversations(...input),
  metadataFields: (input: Input<'metadataFields'>) => lookup.metadataFields(...input),
  metadataValues: (input: Input<'metadataValues'>) => lookup.metadataValues(...input),
  readText: (input: Input<'readText'>) => lookup.readText(...input),
  readPart: (input: Input<'readPart'>) => lookup.readPart(...input),
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
  if (cachedKeys + keys.length > MAX_CACHED_KEYS || cache.size >= MAX_CACHED_ANSWERS) forget()
  if (keys.length > MAX_CACHED_KEYS) return
  cache.set(name, keys)
  cachedKeys += keys.length
}

function forget(): void {
  cache.clear()
  cachedKeys = 0
}
