import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../errors.ts'
import { JobRefusal, runJob } from '../../lib/child-process.ts'
import { createSharedWork } from '../../lib/coalesce.ts'
import type { Semaphore } from '../../lib/semaphore.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import type { FileStore } from '../../stores/file-store.ts'
import type { DocumentLookup } from '../../stores/lookup.ts'
import { Converted, type Sheet, type TableFormat, type TableJob } from './table-job.ts'

const ENTRY = new URL('./table-process.ts', import.meta.url)
const CONVERSION = { heapMegabytes: 1_024, deadlineMs: 120_000 }
const MAX_SOURCE_BYTES = 500_000_000
const MAX_REFUSALS = 1_000
/** Names of tables and their indexes. */
const KEPT = /^[0-9a-f]{40}(?:\.table\d+)?\.(?:duckdb|json|sqlite)$/

interface TableFile {
  /** The database file. */
  file: string
  sheets: Sheet[]
}

interface TableFiles {
  /** The document as typed tables, made when first asked for. Throws `JobRefusal` for a file that is none. */
  get(document: StoredDocument, format: TableFormat, signal: AbortSignal): Promise<TableFile>
  close(): void
}

interface Dependencies {
  /** Made with the first table if it is missing; what is in it can be made again. */
  directory: string
  store: Pick<FileStore, 'readFile'>
  lookup: Pick<DocumentLookup, 'readText'>
  semaphore: Semaphore
}

/** The database files that documents were converted to: one for each revision, the oldest going when there is no room. */
export function createTableFiles(parts: Dependencies): TableFiles {
  const { directory, store, lookup, semaphore } = parts
  let prepared: Promise<void> | undefined
  const stopping = new AbortController()
  const share = createSharedWork<TableFile>()
  const refused = new Map<string, string>()

  /** Tried again where it failed: there may be room by then. */
  async function prepareOnce(): Promise<void> {
    prepared ??= prepare(directory)
    try {
      await prepared
    } catch (error) {
      prepared = undefined
      throw new AppError('storage_full', 'Tables cannot be written in DATA_DIR', { cause: error })
    }
  }

  async function make(document: StoredDocument, format: TableFormat, key: string) {
    await prepareOnce()
    const known = await readKnown(directory, key)
    if (known) return known
    const work = join(directory, `${key}.work`)
    const { signal } = stopping
    try {
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { mode: 0o700 })
      const job: TableJob = {
        ...{ kind: 'convert', format },
        ...{ source: join(work, 'source'), target: join(work, 'tables.duckdb') },
      }
      await pipeline(
        Readable.from(await contentOf(document, signal)),
        createWriteStream(job.source),
      )
      const options = { ...CONVERSION, directory: work }
      const output = await semaphore.run(() => runJob(ENTRY, job, options, signal), signal)
      await makeRoom(directory)
      return await keep(directory, key, job.target, Converted.parse(output).sheets)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }

  async function contentOf(document: StoredDocument, signal: AbortSignal) {
    const { id, file, servedRevision } = document
    if ((file?.size ?? 0) > MAX_SOURCE_BYTES) throw new JobRefusal('The file is too large')
    const pieces = file ? await store.readFile(id, servedRevision) : undefined
    return pieces ?? [Buffer.from((await lookup.readText(id, signal)) ?? '')]
  }

  const remember = (key: string) => (error: unknown) => {
    if (error instanceof JobRefusal && refused.size < MAX_REFUSALS) refused.set(key, error.message)
    throw error
  }

  return {
    async get(document, format, signal) {
      const key = keyOf(document)
      const reason = refused.get(key)
      if (reason !== undefined) throw new JobRefusal(reason)
      return share(key, () => make(document, format, key).catch(remember(key)), signal)
    },
    close: () => stopping.abort(new Error('The server stops')),
  }
}

function keyOf({ id, servedRevision }: StoredDocument): string {
  return createHash('sha256').update(`${id} ${servedRevision}`).digest('hex').slice(0, 40)
}

/** What a process left half done is removed. */
async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const name of await readdir(directory)) {
    if (!KEPT.test(name)) {
      await rm(join(directory, name), { recursive: true, force: true })
    }
  }
}

async function readKnown(directory: string, key: string): Promise<TableFile | undefined> {
  const file = join(directory, `${key}.duckdb`)
  try {
    await stat(file)
    const { sheets } = Converted.parse(
      JSON.parse(await readFile(join(directory, `${key}.json`), 'utf8')),
    )
    return { file, sheets }
  } catch {
    // Missing, or half written: it is made again.
    return undefined
  }
}

async function keep(
  directory: string,
  key: string,
  made: string,
  sheets: Sheet[],
): Promise<TableFile> {
  const file = join(directory, `${key}.duckdb`)
  await rename(made, file)
  await writeFile(join(directory, `${key}.json`), JSON.stringify({ sheets }))
  return { file, sheets }
}

const MAX_TOTAL_BYTES = 5_000_000_000

/** Removes the oldest tables and indexes where all of them take too much room; they can be made again. */
export async function makeRoom(directory: string, most = MAX_TOTAL_BYTES): Promise<void> {
  const names = (await readdir(directory)).filter((name) => /\.(?:duckdb|sqlite)$/.test(name))
  const files = await Promise.all(
    names.map(async (name) => ({ name, ...(await stat(join(directory, name))) })),
  )
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { name, size } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= most) return
    await rm(join(directory, name), { force: true })
    total -= size
  }
}
