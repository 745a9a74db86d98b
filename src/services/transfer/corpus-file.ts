import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { z } from 'zod'
import { exists } from '../../lib/files.ts'
import { parseJson } from '../../lib/text/json.ts'
import { type Line, readLines } from '../../lib/text/lines.ts'
import type { CorpusRecord } from '../../stores/corpus.ts'
import {
  BodyLine,
  createRecordDecoder,
  EndLine,
  encodeRecord,
  FORMAT,
  FORMAT_VERSION,
  HeaderLine,
  MAX_LINE_BYTES,
} from './corpus-format.ts'

/** The start of every version of the format. */
const AnyHeader = z.object({ format: z.literal(FORMAT), version: z.number() })

interface WholeLine {
  /** From 1. */
  number: number
  bytes: Buffer
}

/**
 * Reads the records of a file. Throws an Error that says what is wrong with it. A truncated or modified file is only
 * detected at its end, so nothing from it may be committed before that.
 */
export async function* readCorpusFile(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<CorpusRecord> {
  const decoder = createRecordDecoder()
  for await (const { number, bytes } of sealedLines(file, signal)) {
    if (number === 1) yield readHeader(file, bytes)
    else {
      const line = parse(BodyLine, bytes)
      if (!line) throw damaged(file, `has a line ${number} that is none of the format`)
      yield* decoder.next(line)
    }
  }
  yield* decoder.end()
}

/** Yields all lines but the last, whose digest must match the lines before it. */
async function* sealedLines(file: string, signal: AbortSignal): AsyncGenerator<WholeLine> {
  const hash = createHash('sha256')
  let last: WholeLine | undefined
  for await (const { number, bytes } of unpackedLines(file, signal)) {
    if (!bytes) throw damaged(file, `has a line ${number} that is too long`)
    if (last) {
      hash.update(last.bytes).update('\n')
      yield last
    }
    last = { number, bytes }
  }
  const end = last && parse(EndLine, last.bytes)
  if (!last || !end) throw damaged(file, 'ends too early')
  if (end.lines === last.number - 1 && end.sha256 === hash.digest('hex')) return
  throw damaged(file, 'does not hold what was written into it')
}

async function* unpackedLines(file: string, signal: AbortSignal): AsyncGenerator<Line> {
  const unpacked = createZstdDecompress()
  // The pipeline destroys `unpacked` if the file cannot be read, so that its reader gets the error.
  const reading = pipeline(createReadStream(file, { signal }), unpacked)
  // It may fail while the consumer is busy with a line; it is awaited at the end.
  reading.catch(() => undefined)
  try {
    yield* readLines(unpacked, MAX_LINE_BYTES)
    await reading
  } catch (error) {
    signal.throwIfAborted()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR' || code.startsWith('ZSTD')) {
      throw damaged(file, 'cannot be unpacked', error)
    }
    // This error occurs on the first read, and its message has no path.
    throw code === 'EISDIR' ? damaged(file, 'is a folder') : error
  } finally {
    unpacked.destroy()
    await Promise.allSettled([reading])
  }
}

function readHeader(file: string, bytes: Buffer): CorpusRecord {
  const known = parse(AnyHeader, bytes)
  if (!known) throw damaged(file, 'is no export of a corpus')
  if (known.version !== FORMAT_VERSION) {
    throw new Error(
      `${file} is of version ${known.version} of the format, and this server reads version ${FORMAT_VERSION}: import it with the server that it was made for`,
    )
  }
  const header = parse(HeaderLine, bytes)
  if (!header) throw damaged(file, 'has a header that cannot be read')
  const { embedding, documents, chunks, nextChunkKey } = header
  return { kind: 'start', embedding, documents, chunks, nextChunkKey }
}

function parse<Schema extends z.ZodType>(schema: Schema, bytes: Buffer) {
  return schema.safeParse(parseJson(bytes.toString())).data
}

function damaged(file: string, how: string, cause?: unknown): Error {
  return new Error(`${file} ${how}: nothing was imported`, { cause })
}

/** Lines are passed to the compressor in blocks of about this many characters. */
const BLOCK_CHARACTERS = 2 ** 18
const PRIVATE = 0o600

/**
 * Writes records as compressed lines of JSON; the last line holds their number and digest. The file gets its name
 * only once it is complete and flushed to disk. Throws if a file of that name exists.
 */
export async function writeCorpusFile(
  file: string,
  records: AsyncIterable<CorpusRecord>,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(file)) throw new Error(`There is a file ${file} already`)
  const unfinished = `${file}.part`
  try {
    await pipeline(
      Readable.from(sealLines(records), { objectMode: false }),
      createZstdCompress(),
      createWriteStream(unfinished, { mode: PRIVATE, flush: true }),
      { signal },
    )
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    signal.throwIfAborted()
    throw error
  }
}

/** The lines of all records, in blocks. */
async function* sealLines(records: AsyncIterable<CorpusRecord>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let lines = 0
  let block = ''
  for await (const record of records) {
    for (const content of encodeRecord(record)) {
      const line = `${JSON.stringify(content)}\n`
      hash.update(line)
      lines++
      block += line
      if (block.length < BLOCK_CHARACTERS) continue
      yield Buffer.from(block)
      block = ''
    }
  }
  const end = { kind: 'end', lines, sha256: hash.digest('hex') }
  yield Buffer.from(`${block}${JSON.stringify(end)}\n`)
}
