import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { exists, putInPlace } from '@agent-server/lib/files.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { readLines } from '@agent-server/lib/text/lines.ts'
import type { BackupRecord, BackupRows, BackupStart } from '@agent-server/stores'
import { z } from 'zod'

/** The name and version of the format; a reader refuses every other. */
const FORMAT = 'agent-server-backup'
const FORMAT_VERSION = 1
/** More than the longest text takes with every character escaped; a string cannot be much longer. */
const MAX_LINE_BYTES = 500_000_000
/** Lines are passed to the compressor, and sealed with a digest, in blocks of about this many characters. */
const BLOCK_CHARACTERS = 2 ** 18
const PRIVATE = 0o600

/** What a backup holds besides the store. */
export interface Surroundings {
  /** The version of the program that wrote it. */
  program: string
  /** Settings that are no secrets, and the names of those that are. */
  settings: Readonly<Record<string, string>>
  secrets: readonly string[]
  /** The agent configuration and its former versions, by name. */
  files: Readonly<Record<string, string>>
}

const count = z.int().min(0)
const Counts = z.record(z.string(), count)

const AnyHeader = z.object({ format: z.literal(FORMAT), version: z.number() })
const Header = z.object({
  createdAt: z.string(),
  program: z.string(),
  schema: z.int().min(1),
  store: z.enum(['SQLite', 'PostgreSQL']),
  rows: Counts,
  numbers: Counts,
  settings: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  // No path leads elsewhere.
  files: z.record(z.string().regex(/^(?:agent-versions\/)?[\w-]+\.json$/), z.string()),
})
export type BackupHeader = z.output<typeof Header>

const Cell = z.union([
  z.string(),
  z.number(),
  z.null(),
  z.object({ base64: z.base64() }).transform(({ base64 }) => Buffer.from(base64, 'base64')),
])
const Rows = z
  .object({ table: z.string(), columns: z.array(z.string()), rows: z.array(z.array(Cell)) })
  .refine(({ columns, rows }) => rows.every(({ length }) => length === columns.length))
/** The digest of all bytes before this line. */
const Seal = z.object({ sha256: z.string(), isLast: z.boolean().exactOptional() })

/**
 * Writes records as compressed lines of JSON. The file gets its name only once it is complete and flushed to disk.
 * Throws if a file of that name exists.
 */
export async function writeBackupFile(
  file: string,
  surroundings: Surroundings,
  records: AsyncIterable<BackupRecord>,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(file)) throw new Error(`The file ${file} already exists`)
  await access(dirname(file))
  const unfinished = `${file}.${randomUUID()}.part`
  const handle = await open(unfinished, 'wx', PRIVATE)
  try {
    await pipeline(
      Readable.from(sealedBlocks(surroundings, records), { objectMode: false }),
      createZstdCompress(),
      handle.createWriteStream({ flush: true }),
      { signal },
    )
    // What a disk or a controller has lost shows now, not on the day that it is needed.
    const outcome = 'no backup was made'
    for await (const _ of readBackupFile(unfinished, signal, outcome)) signal.throwIfAborted()
    await putInPlace(unfinished, file)
  } catch (error) {
    await handle.close()
    await rm(unfinished, { force: true })
    signal.throwIfAborted()
    throw error
  }
}

async function* sealedBlocks(
  surroundings: Surroundings,
  records: AsyncIterable<BackupRecord>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let block = ''
  const seal = (isLast?: true) => {
    hash.update(block)
    const line = `${JSON.stringify({ sha256: hash.copy().digest('hex'), isLast })}\n`
    hash.update(line)
    const sealed = Buffer.from(block + line)
    block = ''
    return sealed
  }
  for await (const record of records) {
    const line = record.kind === 'start' ? toHeader(record, surroundings) : toRows(record)
    block += `${JSON.stringify(line)}\n`
    if (block.length >= BLOCK_CHARACTERS) yield seal()
  }
  yield seal(true)
}

function toHeader({ kind: _, ...start }: BackupStart, surroundings: Surroundings) {
  const createdAt = new Date().toISOString()
  const header = { format: FORMAT, version: FORMAT_VERSION, createdAt, ...start, ...surroundings }
  const { error } = Header.safeParse(header)
  if (!error) return header
  const where = error.issues.map(({ path }) => path.join('.')).join(', ')
  throw new Error(`Nobody could read this backup: no backup was made (${where})`)
}

function toRows({ kind: _, ...record }: BackupRows) {
  return { ...record, rows: record.rows.map((row) => row.map(toCell)) }
}

function toCell(value: BackupRows['rows'][number][number]) {
  if (!(value instanceof Uint8Array)) return value
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return { base64: bytes.toString('base64') }
}

/** Reads the whole file, and returns its header. Throws an Error that names the place where it is damaged. */
export async function checkBackupFile(file: string, signal: AbortSignal): Promise<BackupHeader> {
  let header: BackupHeader | undefined
  for await (const record of readBackupFile(file, signal)) {
    if (record.kind === 'start') header = record.header
  }
  if (!header) throw new Error(`${file} is not a backup: nothing was restored`)
  return header
}

type FileRecord = Exclude<BackupRecord, BackupStart> | (BackupStart & { header: BackupHeader })

/** Yields what is sealed, block by block: nothing after damage, but what was yielded before is only a part. */
export async function* readBackupFile(
  file: string,
  signal: AbortSignal,
  outcome = 'nothing was restored',
): AsyncGenerator<FileRecord> {
  const place = { file, outcome, sealed: 0, number: 0, table: '' }
  const blocks = createBlocks(place)
  for await (const bytes of unpackedLines(place, signal)) {
    place.number += 1
    if (!bytes) throw damaged(place, `has a line ${place.number} that is too long`)
    yield* blocks.take(bytes)
  }
  blocks.end()
}

/** Gathers lines until their seal. */
function createBlocks(place: Place) {
  const hash = createHash('sha256')
  let block: FileRecord[] = []
  let isOver = false

  const open = ({ sha256, isLast = false }: z.output<typeof Seal>) => {
    if (sha256 !== hash.copy().digest('hex')) throw damaged(place, `is damaged ${where(place)}`)
    const opened = block
    block = []
    isOver = isLast
    place.sealed = place.number
    return opened
  }
  const hold = (json: unknown): [] => {
    const record = place.number === 1 ? toStart(place, json) : toRecord(json)
    if (!record) throw damaged(place, `is damaged in line ${place.number}, ${where(place)}`)
    if (record.kind === 'rows') place.table = record.table
    block.push(record)
    return []
  }

  return {
    /** The records that a line seals, if it does. */
    take(bytes: Buffer): FileRecord[] {
      if (isOver) throw damaged(place, 'goes on after its end')
      const json = parseJson(bytes.toString())
      const seal = Seal.safeParse(json).data
      const records = seal ? open(seal) : hold(json)
      hash.update(bytes).update('\n')
      return records
    },
    end(): void {
      if (!isOver) throw damaged(place, `ends too early, ${where(place)}`)
    },
  }
}

interface Place {
  file: string
  /** What damage leads to, in words. */
  outcome: string
  sealed: number
  number: number
  table: string
}

function where({ sealed, number, table }: Place): string {
  const after = `after line ${sealed} of ${number}`
  return table ? `${after}, at the table ${table}` : after
}

function toStart(place: Place, json: unknown): FileRecord {
  const format = AnyHeader.safeParse(json).data
  if (!format) throw damaged(place, 'is not a backup')
  if (format.version !== FORMAT_VERSION) {
    throw new Error(
      `${place.file} has version ${format.version} of the format, and this server reads version ${FORMAT_VERSION}: restore it with the version that wrote it`,
    )
  }
  const header = Header.safeParse(json).data
  if (!header) throw damaged(place, 'has an unreadable header')
  const { schema, program, store, rows, numbers } = header
  return { kind: 'start', schema, program, store, rows, numbers, header }
}

function toRecord(json: unknown): FileRecord | undefined {
  const rows = Rows.safeParse(json).data
  return rows && { kind: 'rows', ...rows }
}

function damaged({ file, outcome }: Place, how: string, cause?: unknown): Error {
  return new Error(`${file} ${how}: ${outcome}`, { cause })
}

async function* unpackedLines(
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<Buffer | undefined> {
  const unpacked = createZstdDecompress()
  // The pipeline destroys `unpacked` if the file cannot be read, so that its reader gets the error.
  const reading = pipeline(createReadStream(place.file, { signal }), unpacked)
  void ignore(reading, 'it may fail while a line is in use, and is awaited at the end')
  try {
    for await (const { bytes } of readLines(unpacked, MAX_LINE_BYTES)) yield bytes
    await reading
  } catch (error) {
    signal.throwIfAborted()
    const code = codeOf(error) ?? ''
    if (code === 'Z_BUF_ERROR' || code.startsWith('ZSTD')) {
      throw damaged(place, `cannot be unpacked ${where(place)}`, error)
    }
    // This error occurs on the first read, and its message has no path.
    throw code === 'EISDIR' ? damaged(place, 'is a folder') : error
  } finally {
    unpacked.destroy()
    await Promise.allSettled([reading])
  }
}
