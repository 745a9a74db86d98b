import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { createSharedWork } from '../../lib/coalesce.ts'
import { exists } from '../../lib/files.ts'
import type { JobRunner } from '../../lib/processes/child-process.ts'
import { JobCrashed, JobExhausted, JobRefusal } from '../../lib/processes/job.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'
import type { DocumentLookup } from '../../stores/lookup.ts'
import { Converted, type ConvertJob, type IndexJob, type TableFormat } from './table-job.ts'

export const CONVERSION = {
  ...{ task: 'Reading the file as a table', advice: 'it is too large' },
  ...{ module: new URL('./convert-table.ts', import.meta.url), run: 'convertTable' },
  ...{ heapMegabytes: 1_024, residentMegabytes: 2_048, deadlineMs: 120_000 },
}
const INDEXING = {
  ...{ task: 'Indexing the table', advice: 'take query_table' },
  ...{ module: new URL('./index-table.ts', import.meta.url), run: 'indexTable' },
  ...{ heapMegabytes: 512, residentMegabytes: 1_536, deadlineMs: 120_000 },
}
const MAX_SOURCE_BYTES = 500_000_000
const MAX_TOTAL_BYTES = 5_000_000_000
const MAX_REFUSALS = 1_000
/** Part of each file name: raised when the conversion changes, so that older tables are converted again. */
const FORMAT_VERSION = 2
/** File names of tables, their descriptions and their indexes. */
const KEPT = /^[0-9a-f]{40}(?:\.table\d+)?\.(?:duckdb|json|sqlite)$/

/** The interval at which tables of deleted or replaced documents are removed. */
const SWEEP_INTERVAL_MS = 60_000

/** The document and the revision that the tables were converted from. */
const Owner = z.object({ document: z.string(), revision: z.int() })

interface TableFile extends Converted {
  /** The database file. */
  file: string
}

/** A table in the database file that it was converted into. */
interface StoredSheet extends Pick<IndexJob, 'table' | 'rows' | 'columns'> {
  file: string
}

interface Dependencies {
  /** Created with the first table if missing; its contents can be regenerated. */
  directory: string
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: Pick<DocumentLookup, 'readText'>
  run: JobRunner
}

/** The files that documents were converted into: one set per revision, the oldest evicted when space runs out. */
export function createTableFiles(parts: Dependencies) {
  const stopping = new AbortController()
  const shareConversion = createSharedWork<TableFile>()
  const shareIndexing = createSharedWork<string>()
  const refusals = createRefusals()
  let prepared: Promise<void> | undefined
  const sweep = () => removeStale(parts)
  // What cannot be removed now is removed in a later sweep.
  const timer = setInterval(() => void sweep().catch(() => undefined), SWEEP_INTERVAL_MS).unref()

  /** After a failure the next call tries again, since there may be space by then. */
  async function prepareOnce(): Promise<void> {
    prepared ??= prepare(parts.directory)
    try {
      await prepared
    } catch (error) {
      prepared = undefined
      throw new AppError('storage_full', 'Tables cannot be written in DATA_DIR', { cause: error })
    }
  }

  async function convertOnce(document: StoredDocument, format: TableFormat, key: string) {
    refusals.check(key)
    await prepareOnce()
    try {
      return await convert(parts, { document, format, key }, stopping.signal)
    } catch (error) {
      throw refusals.add(key, error)
    }
  }

  return {
    /**
     * The document as typed tables, converted on first use. Throws `JobRefusal` for a file that is not a table, and
     * AppError `storage_full`.
     */
    tablesOf(document: StoredDocument, format: TableFormat, signal: AbortSignal) {
      const { id, servedRevision } = document
      const digest = createHash('sha256')
        .update(`${id} ${servedRevision} ${FORMAT_VERSION}`)
        .digest('hex')
      const key = digest.slice(0, 40)
      return shareConversion(key, () => convertOnce(document, format, key), signal)
    },
    /** The file with the table's rows and an index per column, created on first use. Throws `JobRefusal`. */
    indexOf(sheet: StoredSheet, signal: AbortSignal): Promise<string> {
      const index = sheet.file.replace(/\.duckdb$/, `.${sheet.table}.sqlite`)
      return shareIndexing(index, () => makeIndex(parts, sheet, index, stopping.signal), signal)
    },
    /** Removes the tables of documents that were deleted or replaced; also runs once a minute. */
    sweep,
    close() {
      clearInterval(timer)
      stopping.abort(new Error('The server stops'))
    },
  }
}

/** Remembers why documents cannot be read as tables, so that they are not tried again. */
function createRefusals() {
  const refused = new Map<string, string>()
  const failedOnce = new Set<string>()

  return {
    /** Throws `JobRefusal` for a document that was refused before. */
    check(key: string): void {
      const reason = refused.get(key)
      if (reason !== undefined) throw new JobRefusal(reason)
    },
    /**
     * Records a failure and returns the error to throw. A crash, a timeout or running out of memory may be chance the
     * first time; only a second one is remembered.
     */
    add(key: string, error: unknown): unknown {
      const crash = error instanceof JobCrashed
      const refusal = crash ? new JobRefusal(`${CONVERSION.task} failed`, { cause: error }) : error
      if (!(refusal instanceof JobRefusal)) return error
      const isMomentary = crash || error instanceof JobExhausted
      if (!isMomentary || failedOnce.has(key)) refused.set(key, refusal.message)
      else failedOnce.add(key)
      for (const kept of [refused, failedOnce]) if (kept.size > MAX_REFUSALS) kept.clear()
      return refusal
    },
  }
}

async function convert(
  parts: Dependencies,
  { document, format, key }: { document: StoredDocument; format: TableFormat; key: string },
  signal: AbortSignal,
): Promise<TableFile> {
  const file = join(parts.directory, `${key}.duckdb`)
  const description = join(parts.directory, `${key}.json`)
  const known = (await exists(file)) && (await readDescription(description, Converted))
  if (known) return { file, sheets: known.sheets }
  return inWorkDirectory(parts, key, async (work, run) => {
    const source = join(work, 'source')
    const target = join(work, 'tables.duckdb')
    const content = await contentOf(parts, document, signal)
    await pipeline(Readable.from(content), createWriteStream(source))
    const input: ConvertJob = { source, format, target }
    const { sheets } = await run(CONVERSION, Converted, input, signal)
    await rename(target, file)
    const owner: z.output<typeof Owner> = {
      document: document.id,
      revision: document.servedRevision ?? document.revision,
    }
    await writeFile(description, JSON.stringify({ ...owner, sheets }))
    return { file, sheets }
  })
}

async function contentOf(
  { store, lookup }: Dependencies,
  { id, file, servedRevision }: StoredDocument,
  signal: AbortSignal,
) {
  if ((file?.size ?? 0) > MAX_SOURCE_BYTES) throw new JobRefusal('The file is too large')
  const pieces = file ? await store.readFile(id, servedRevision) : undefined
  return pieces ?? [Buffer.from((await lookup.readText(id, signal)) ?? '')]
}

async function makeIndex(
  parts: Dependencies,
  { file, table, rows, columns }: StoredSheet,
  index: string,
  signal: AbortSignal,
): Promise<string> {
  if (await exists(index)) return index
  return inWorkDirectory(parts, basename(index), async (work, run) => {
    const target = join(work, 'rows')
    const input: IndexJob = { source: file, target, table, rows, columns }
    await run(INDEXING, z.undefined(), input, signal)
    await rename(target, index)
    return index
  })
}

/** Calls `use` with a new directory, which is always removed afterwards, and a runner whose jobs may write there. */
async function inWorkDirectory<T>(
  { directory, run }: Dependencies,
  name: string,
  use: (work: string, run: JobRunner) => Promise<T>,
): Promise<T> {
  const work = join(directory, `${name}.work`)
  try {
    await rm(work, { recursive: true, force: true })
    await mkdir(work, { mode: 0o700 })
    return await use(work, async (job, schema, input, signal) => {
      const output = await run({ ...job, directory: work }, schema, input, signal)
      await makeRoom(directory)
      return output
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Creates the directory and removes what an earlier process left unfinished. */
async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const names = await readdir(directory)
  for (const name of names) {
    if (KEPT.test(name) && names.includes(descriptionOf(name))) continue
    await rm(join(directory, name), { recursive: true, force: true })
  }
}

const descriptionOf = (name: string) => name.replace(/\..*$/, '.json')

async function removeStale({ directory, store }: Dependencies): Promise<void> {
  if (!(await exists(directory))) return
  const names = await readdir(directory)
  for (const name of names.filter((one) => KEPT.test(one) && one.endsWith('.json'))) {
    const owner = await readDescription(join(directory, name), Owner)
    const document = owner && (await store.get(owner.document))
    if (document && document.servedRevision === owner.revision) continue
    const stale = names.filter((one) => KEPT.test(one) && descriptionOf(one) === name)
    for (const one of stale) await rm(join(directory, one), { force: true })
  }
}

/** Undefined if the description is missing, incomplete or older than the schema: the tables are converted again. */
async function readDescription<Schema extends z.ZodType>(path: string, schema: Schema) {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Removes the oldest tables and indexes if they take up too much space together; they can be regenerated. */
export async function makeRoom(directory: string, maximumBytes = MAX_TOTAL_BYTES): Promise<void> {
  const names = (await readdir(directory)).filter((name) => /\.(?:duckdb|sqlite)$/.test(name))
  const files = await Promise.all(
    names.map(async (name) => {
      // A concurrent call may have removed it.
      const found = await stat(join(directory, name), { throwIfNoEntry: false })
      return { name, size: found?.size ?? 0, mtimeMs: found?.mtimeMs ?? 0 }
    }),
  )
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { name, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= maximumBytes) return
    await rm(join(directory, name), { force: true })
    total -= size
  }
}
