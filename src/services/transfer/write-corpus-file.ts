import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import type { CorpusRecord } from '../../stores/corpus.ts'
import { encodeRecord } from './encode-corpus.ts'

/** Lines are handed to the compressor together, in blocks of about so many characters. */
const BLOCK_CHARACTERS = 2 ** 18
const PRIVATE = 0o600

/**
 * Writes records as lines of JSON, compressed, with a last line that tells whether all are there. The file
 * has its name only once it is whole and on the disk. Throws where there is such a file.
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
      Readable.from(blocks(sealedLines(records)), { objectMode: false }),
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

async function* sealedLines(records: AsyncIterable<CorpusRecord>): AsyncGenerator<string> {
  const hash = createHash('sha256')
  let lines = 0
  for await (const record of records) {
    for (const content of encodeRecord(record)) {
      const line = `${JSON.stringify(content)}\n`
      hash.update(line)
      lines++
      yield line
    }
  }
  yield `${JSON.stringify({ kind: 'end', lines, sha256: hash.digest('hex') })}\n`
}

async function* blocks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let block = ''
  for await (const line of lines) {
    block += line
    if (block.length < BLOCK_CHARACTERS) continue
    yield Buffer.from(block)
    block = ''
  }
  yield Buffer.from(block)
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}
