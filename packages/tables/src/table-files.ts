import { createHash, hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createSharedWork } from '@agent-server/lib/coalesce.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { exists } from '@agent-server/lib/files.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Owner } from '@agent-server/lib/limiter.ts'
import type { JobRunner } from '@agent-server/lib/processes/child-process.ts'
import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { z } from 'zod'
import type { DocumentSource, TableDocument } from './document-source.ts'
import { Converted, type ConvertJob, type TableFormat } from './table-job.ts'

/** What does not depend on the kind of document. */
type Contents = Pick<DocumentSource<TableDocument, unknown>, 'get' | 'readFile' | 'readText'>

export const CONVERSION = {
  task: 'Reading the file as a table',
  advice: 'it is too large',
  module: new URL('./convert-table.ts', import.meta.url),
  run: 'convertTable',
  heapMegabytes: 640,
  residentMegabytes: 1_024,
  mappedMegabytes: 2_048,
  deadlineMs: 120_000,
}
const MAX_SOURCE_BYTES = 500_000_000
const MAX_TOTAL_BYTES = 5_000_000_000
/** A file that could not be read as a table is not tried again for this long. */
const REFUSED_MS = 600_000
const MAX_REFUSALS = 1_000
/** Part of each file name: raised when the conversion changes, so that older tables are converted again. */
const FORMAT_VERSION = 8
/** The interval at which tables of deleted or replaced documents are removed. */
const SWEEP_INTERVAL_MS = 60_000

/** Stored beside a database file: its tables, and the document and revision that they were converted from. */
const Description = Converted.extend({
  document: z.string(),
  revision: z.int(),
  /** Digest of the database file. */
  digest: z.string(),
})
type Description = z.output<typeof Description>

interface TableFile extends Converted {
  /** The database file. */
  file: string
}

interface Conversion {
  document: TableDocument
  format: TableFormat
  /** Whose share of the jobs it takes, if it is the first who needs it. */
  owner: Owner
}

interface Dependencies {
  /** Created with the first table if missing; its contents can be regenerated. */
  directory: string
  documents: Contents
  run: JobRunner
}

/** The files that documents were converted into: one set per revision, the oldest evicted when space runs out. */
export class TableFiles {
  readonly #dependencies: Dependencies
  readonly #stopping = new AbortController()
  readonly #shareConversion = createSharedWork<TableFile>()
  readonly #refusals = new Map<string, { reason: string; until: number }>()
  /** The keys of conversions in progress. */
  readonly #working = new Set<string>()
  /** The keys of files whose digests were compared in this process. */
  readonly #intact = new Set<string>()
  readonly #timer = setInterval(
    () => void ignore(this.sweep(), 'a later sweep removes what is left'),
    SWEEP_INTERVAL_MS,
  ).unref()
  #sweeping: Promise<void> | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * The document as typed tables, converted on first use. Throws `Refusal` for a file that is not a table, and
   * AppError `storage_full`.
   */
  tablesOf(conversion: Conversion, signal: AbortSignal): Promise<TableFile> {
    const { id, servedRevision } = conversion.document
    const digest = hash('sha256', `${id} ${servedRevision} ${FORMAT_VERSION}`)
    const key = digest.slice(0, 40)
    return this.#shareConversion(key, () => this.#convertOnce(conversion, key), signal)
  }

  /**
   * Removes the tables of documents that were deleted or replaced, what an earlier process left unfinished, and the
   * oldest tables if all take up too much space: they can be regenerated. Also runs before each conversion, and once a
   * minute.
   */
  sweep(): Promise<void> {
    const { directory, documents } = this.#dependencies
    this.#sweeping ??= removeStale(directory, documents, this.#working).finally(() => {
      this.#sweeping = undefined
    })
    return this.#sweeping
  }

  close(): void {
    clearInterval(this.#timer)
    this.#stopping.abort(new Error('The server stops'))
  }

  async #convertOnce(conversion: Conversion, key: string): Promise<TableFile> {
    const refused = this.#refusals.get(key)
    if (refused && refused.until > performance.now()) throw new Refusal(refused.reason)
    this.#working.add(key)
    try {
      return await this.#convert(conversion, key)
    } catch (error) {
      throw this.#remember(key, error)
    } finally {
      this.#working.delete(key)
    }
  }

  #remember(key: string, error: unknown): unknown {
    const isCrash = error instanceof JobCrashed
    const refusal = isCrash ? new Refusal(`${CONVERSION.task} failed`, { cause: error }) : error
    if (!(refusal instanceof Refusal)) return error
    if (this.#refusals.size >= MAX_REFUSALS) this.#refusals.clear()
    this.#refusals.set(key, { reason: refusal.message, until: performance.now() + REFUSED_MS })
    return refusal
  }

  async #convert(conversion: Conversion, key: string): Promise<TableFile> {
    const { directory } = this.#dependencies
    await makeDirectory(directory)
    const file = join(directory, `${key}.duckdb`)
    const description = join(directory, `${key}.json`)
    const existing = (await exists(file)) && (await readDescription(description))
    // A damaged file is created again, as the search index is.
    if (existing && (this.#intact.has(key) || (await digestOf(file)) === existing.digest)) {
      this.#intact.add(key)
      return { file, sheets: existing.sheets }
    }
    const work = join(directory, `${key}.work`)
    await rm(work, { recursive: true, force: true })
    await makeDirectory(work)
    try {
      await this.sweep()
      const target = join(work, 'tables.duckdb')
      const { sheets } = await this.#convertIn(work, target, conversion)
      const digest = await digestOf(target)
      await rename(target, file)
      const { id, servedRevision, revision } = conversion.document
      const described: Description = {
        document: id,
        revision: servedRevision ?? revision,
        digest,
        sheets,
      }
      await writeFile(description, JSON.stringify(described))
      this.#intact.add(key)
      return { file, sheets }
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }

  async #convertIn(work: string, target: string, { document, format, owner }: Conversion) {
    const { documents, run } = this.#dependencies
    const { signal } = this.#stopping
    const source = join(work, 'source')
    const content = await contentOf(documents, document, format, signal)
    await pipeline(Readable.from(content), createWriteStream(source))
    const input: ConvertJob = { source, format, target }
    return run({ ...CONVERSION, directory: work }, Converted, { input, owner }, signal)
  }
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(file), digest)
  return digest.digest('hex')
}

async function contentOf(
  documents: Contents,
  { id, file, servedRevision }: TableDocument,
  format: TableFormat,
  signal: AbortSignal,
) {
  if ((file?.size ?? 0) > MAX_SOURCE_BYTES) throw new Refusal('The file is too large')
  // Tables in Markdown are in the text that was read from the file.
  const pieces =
    file && format !== 'markdown' ? await documents.readFile(id, servedRevision) : undefined
  return pieces ?? [Buffer.from((await documents.readText(id, signal)) ?? '')]
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new AppError('storage_full', 'Tables cannot be written in DATA_DIR', { cause })
  }
}

/** Keeps the tables of documents as they are now, the newest first, and those of `working`; removes all else. */
export async function removeStale(
  directory: string,
  documents: Pick<Contents, 'get'>,
  working: ReadonlySet<string>,
  maximumBytes = MAX_TOTAL_BYTES,
): Promise<void> {
  if (!(await exists(directory))) return
  const names = (await readdir(directory)).filter((name) => !working.has(keyOf(name)))
  const current: { key: string; size: number; mtimeMs: number }[] = []
  for (const key of new Set(names.map(keyOf))) {
    const description = await readDescription(join(directory, `${key}.json`))
    const document = description && (await documents.get(description.document))
    const tables = join(directory, `${key}.duckdb`)
    if (!document || document.servedRevision !== description.revision || !(await exists(tables)))
      continue
    const { size, mtimeMs } = await stat(tables)
    current.push({ key, size, mtimeMs })
  }
  let room = maximumBytes
  const fitting = current
    .toSorted((a, b) => b.mtimeMs - a.mtimeMs)
    .filter(({ size }) => {
      room -= size
      return room >= 0
    })
  const keys = new Set(fitting.map(({ key }) => key))
  for (const name of names) {
    if (keys.has(keyOf(name)) && !name.endsWith('.work')) continue
    await rm(join(directory, name), { recursive: true, force: true })
  }
}

const keyOf = (name: string) => name.split('.')[0] ?? ''

/** Undefined if the description is missing, incomplete or older than the schema: the tables are converted again. */
async function readDescription(path: string): Promise<Description | undefined> {
  try {
    return Description.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return undefined
  }
}
