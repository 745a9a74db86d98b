import { Refusal } from '@agent-server/lib/refusal.ts'
import type { Entry, ZipFile } from 'yauzl'
import { encodingOf } from './decode-text.ts'
import { ExtractionError, passwordProtected } from './extracted.ts'

export const ZIP_MARK = Buffer.from('PK\x03\x04')
/** Begins the last record of an archive, which ends in the length of a comment, and that comment. */
const END_MARK = Buffer.from('PK\x05\x06')
const END_BYTES = 22
const MAX_ENTRIES = 20_000
const MAX_UNPACKED = 1_000_000_000
/** Maximum bytes of an entry that is read as a whole. */
const MAX_ENTRY_BYTES = 256 * 2 ** 20
/** Maximum compression ratio of archives that unpack to more than `MIN_BOMB_BYTES`; office files reach about 20. */
const MAX_RATIO = 100
const MIN_BOMB_BYTES = 100_000_000
/** A document type declaration occurs within the first bytes. */
const PROLOG_BYTES = 4_096

export type ZipArchive = Awaited<ReturnType<typeof openZip>>

/**
 * Opens a ZIP file after adding up the declared sizes of its entries, before any is unpacked. Throws `encrypted_file`,
 * `damaged_file`, and `file_too_complex` for one that unpacks to too much.
 */
export async function openZip(bytes: Buffer) {
  const { zip, entries } = await readDirectory(bytes)

  /**
   * Throws `damaged_file` if there is no such entry, or it does not unpack to its declared size, and `file_too_complex`
   * if it is too large.
   */
  const readBytes = async (name: string): Promise<Buffer> => {
    const entry = entries.get(name)
    if (!entry) throw damaged(`it lacks ${name}`)
    if (entry.uncompressedSize > MAX_ENTRY_BYTES) throw tooLarge()
    const parts: Buffer[] = []
    await eachPart(zip, entry, (part) => parts.push(part))
    return Buffer.concat(parts)
  }
  return {
    has: (name: string) => entries.has(name),
    readBytes,
    /** Decodes it as it declares. Throws like `readBytes`. */
    async readText(name: string): Promise<string> {
      const bytes = await readBytes(name)
      const encoding = (await encodingOf(bytes)) ?? 'utf-8'
      const text = new TextDecoder(encoding).decode(bytes)
      if (encoding !== 'utf-8') refuseEntities(text.slice(0, PROLOG_BYTES))
      return text
    },

    /** Unpacks everything once, a chunk at a time, on behalf of a parser that would trust the declared sizes. */
    async verify(): Promise<void> {
      for (const entry of entries.values()) {
        let isFirst = true
        await eachPart(zip, entry, (part) => {
          if (isFirst) refuseEntities(part.subarray(0, PROLOG_BYTES))
          isFirst = false
        })
      }
    },
  }
}

/**
 * Checks an archive for parsers that would simply unpack it: throws `Refusal`, with `notAnArchive` as its message if it
 * is none, or with the reason if it is a bad one.
 */
export async function refuseBadZip(bytes: Buffer, notAnArchive: string): Promise<void> {
  // Ingestion detects archives by their beginning, archive readers by their end; both must agree.
  if (!bytes.subarray(0, ZIP_MARK.length).equals(ZIP_MARK)) throw new Refusal(notAnArchive)
  try {
    await (await openZip(bytes)).verify()
  } catch (error) {
    throw error instanceof ExtractionError ? new Refusal(error.message) : error
  }
}

async function readDirectory(bytes: Buffer) {
  const entries = new Map<string, Entry>()
  let unpacked = 0
  try {
    const { fromBufferPromise } = await import('yauzl')
    const zip = await fromBufferPromise(withoutTail(bytes))
    if (zip.entryCount > MAX_ENTRIES) throw tooLarge()
    for await (const entry of zip.eachEntry()) {
      unpacked += entry.uncompressedSize
      if (entry.isEncrypted()) throw passwordProtected()
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry)
    }
    const isBomb = unpacked > MIN_BOMB_BYTES && unpacked / bytes.length > MAX_RATIO
    if (isBomb || unpacked > MAX_UNPACKED) throw tooLarge()
    return { zip, entries }
  } catch (error) {
    throw error instanceof ExtractionError ? error : damaged('its directory cannot be read', error)
  }
}

/** A download may have bytes behind the archive, which office programs overlook. */
function withoutTail(bytes: Buffer): Buffer {
  const at = bytes.lastIndexOf(END_MARK)
  const isWhole = at >= 0 && at + END_BYTES <= bytes.length
  return isWhole ? bytes.subarray(0, at + END_BYTES + bytes.readUInt16LE(at + 20)) : bytes
}

/** The reader itself fails on an entry that unpacks to more than its declared size. */
async function eachPart(zip: ZipFile, entry: Entry, take: (part: Buffer) => void): Promise<void> {
  try {
    for await (const part of await zip.openReadStreamPromise(entry)) take(part)
  } catch (error) {
    throw error instanceof ExtractionError ? error : damaged('part of it cannot be unpacked', error)
  }
}

/** Nested entities can expand a few bytes to any size. No office program writes them. */
function refuseEntities(prolog: Buffer | string): void {
  if (!prolog.includes('<!ENTITY')) return
  throw new ExtractionError(
    'file_too_complex',
    'The file declares XML entities, which are not read',
  )
}

function damaged(why: string, cause?: unknown): ExtractionError {
  return new ExtractionError('damaged_file', `The file is damaged: ${why}`, cause)
}

function tooLarge(): ExtractionError {
  return new ExtractionError('file_too_complex', 'The unpacked file is too large')
}
