import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { serveThread } from '@agent-server/lib/processes/thread.ts'
import { foldForms } from '@agent-server/lib/text/forms.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import { createAuditReads } from '../sql/audit.ts'
import { readVisibleKeys } from '../sql/chunks.ts'
import { createConversationReads } from '../sql/conversations.ts'
import { createRowCount, createTableBytes } from '../sql/counts.ts'
import { createLookup } from '../sql/lookup.ts'
import type { Read, Row, Statement, Value } from '../sql/query.ts'
import { createUsageReads } from '../sql/usage.ts'
import { createRunner, openForReading } from './connection.ts'
import { FOLD, SQLITE } from './dialect.ts'
import { toStoreError } from './error.ts'

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

const lookup = createLookup((statement, values) => read(statement, values), SQLITE)
type Lookup = typeof lookup
const conversations = createConversationReads(read, SQLITE)
type Listing<Name extends 'list' | 'listShared'> = Parameters<(typeof conversations)[Name]>
/** What a query takes; its signal stays in the thread that asks. */
type Input<Name extends keyof Lookup> = [Visibility, Parameters<Lookup[Name]>[1]]

const methods = {
  /** Returns the keys in ascending order. */
  visibleKeys: (visibility: Visibility) => readVisibleKeys(read, SQLITE, visibility),
  list: (input: Input<'list'>) => lookup.list(...input),
  countListed: (input: Input<'countListed'>) => lookup.countListed(...input),
  findDocuments: (input: Input<'findDocuments'>) => lookup.findDocuments(...input),
  countDocuments: (input: Input<'countDocuments'>) => lookup.countDocuments(...input),
  collections: (input: Input<'collections'>) => lookup.collections(...input),
  goneConversations: (input: Input<'goneConversations'>) => lookup.goneConversations(...input),
  metadataFields: (input: Input<'metadataFields'>) => lookup.metadataFields(...input),
  metadataValues: (input: Input<'metadataValues'>) => lookup.metadataValues(...input),
  readText: (input: Input<'readText'>) => lookup.readText(...input),
  listConversations: (input: Listing<'list'>) => conversations.list(...input),
  listSharedConversations: (input: Listing<'listShared'>) => conversations.listShared(...input),
  readPart: (input: Input<'readPart'>) => lookup.readPart(...input),
  listAudit: createAuditReads(read).list,
  sumUsage: createUsageReads(read).sum,
  countRows: createRowCount(read),
  tableBytes: createTableBytes(read, SQLITE),
}

export type LookupMethods = typeof methods

serveThread(methods)
