import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Entry as ZipEntry } from 'yauzl'
import { type FileContents, MAX_SKILL_BYTES, MAX_SKILL_FILES, SkillError } from './read-skill.ts'

/** Maximum bytes of all skills of one archive together. */
export const MAX_UNPACKED_BYTES = 4 * MAX_SKILL_BYTES
const MAX_UNPACKED_FILES = 4 * MAX_SKILL_FILES
/** Larger, since the archive may hold a whole repository of which only a part is wanted. */
const MAX_TAR_BYTES = 256_000_000
const MAX_PATH = 300
/** `allowUnknownFormat` admits archives older than POSIX; the type declarations lack it. */
const TAR_OPTIONS = { highWaterMark: 65_536, allowUnknownFormat: true }

const ZIP_SIGNATURE = 'PK'
const FILE_TYPE_BITS = 0o170000
const SYMBOLIC_LINK = 0o120000

const inflate = promisify(gunzip)

/**
 * Unpacks an archive, detected by its first bytes, since names and media types are often wrong. Throws `SkillError`.
 */
export function unpack(bytes: Uint8Array): Promise<FileContents> {
  const signature = Buffer.from(bytes.subarray(0, ZIP_SIGNATURE.length)).toString('latin1')
  return signature === ZIP_SIGNATURE ? unpackZip(bytes) : unpackTar(bytes)
}

/**
 * Unpacks a gzipped tar archive. With `part`, only the files below a path, relative to the archive's top folder (as in
 * archives of a repository). Throws `SkillError`.
 */
export async function unpackTar(
  bytes: Uint8Array,
  part?: { below: string },
): Promise<FileContents> {
  const unpacking = startUnpacking()
  const { extract } = await import('tar-stream')
  const archive = extract(TAR_OPTIONS)
  archive.end(await inflateBounded(bytes))
  try {
    for await (const entry of archive) {
      const { name, size, type } = entry.header
      const path = placeOf(name, part)
      if (path === undefined || type === 'directory') entry.resume()
      else if (type === 'file') await unpacking.add(path, size, entry)
      else throw new SkillError('The archive contains a link')
    }
  } catch (error) {
    throw asSkillError(error, 'The archive is damaged')
  }
  return unpacking.files
}

async function inflateBounded(bytes: Uint8Array): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: MAX_TAR_BYTES })
  } catch (cause) {
    const reason = `is not a gzip file, is damaged, or is larger than ${MAX_TAR_BYTES} bytes`
    throw new SkillError(`The archive ${reason}`, { cause })
  }
}

/** Sizes that the archive misstates are detected while reading. */
async function unpackZip(bytes: Uint8Array): Promise<FileContents> {
  const unpacking = startUnpacking()
  try {
    const { fromBufferPromise } = await import('yauzl')
    const zip = await fromBufferPromise(Buffer.from(bytes), { strictFileNames: true })
    for await (const entry of zip.eachEntry()) {
      const path = archivePath(entry.fileName)
      if (path === undefined || path.endsWith('/')) continue
      checkEntry(entry)
      const content = await zip.openReadStreamPromise(entry)
      await unpacking.add(path, entry.uncompressedSize, content)
    }
  } catch (error) {
    throw asSkillError(
      error,
      'The archive is not a ZIP archive, is damaged, or has false size entries',
    )
  }
  return unpacking.files
}

function checkEntry(entry: ZipEntry): void {
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE_BITS
  if (type === SYMBOLIC_LINK) throw new SkillError('The archive contains a link')
  if (entry.isEncrypted()) throw new SkillError('The archive is encrypted')
}

function asSkillError(error: unknown, message: string): SkillError {
  return error instanceof SkillError ? error : new SkillError(message, { cause: error })
}

/** Collects the files of an archive up to the size limits. */
function startUnpacking() {
  const files: FileContents = new Map()
  let room = MAX_UNPACKED_BYTES
  return {
    files,
    /** Throws `SkillError` if the path is a duplicate, or a file of this size would exceed the limits. */
    async add(path: string, size: number, content: AsyncIterable<unknown>): Promise<void> {
      if (files.has(path)) throw new SkillError('The archive contains a path twice')
      room -= size
      if (room < 0 || files.size >= MAX_UNPACKED_FILES) {
        const bounds = `${MAX_UNPACKED_FILES} files or ${MAX_UNPACKED_BYTES} bytes`
        throw new SkillError(`Unpacked, there are more than ${bounds}`)
      }
      files.set(path, await buffer(content))
    },
  }
}

/** The path where an entry goes; undefined for an entry that is not wanted. */
function placeOf(name: string, part: { below: string } | undefined): string | undefined {
  const path = archivePath(name)
  if (!part || path === undefined) return path
  const inside = path.split('/').slice(1).join('/')
  const below = part.below === '' ? '' : `${part.below}/`
  return inside.startsWith(below) ? inside.slice(below.length) || undefined : undefined
}

/**
 * The path of an entry, which is safe below the archive's root on every system. Undefined for entries of no use, such
 * as hidden files. Throws `SkillError` for a path that leads out.
 */
function archivePath(entry: string): string | undefined {
  const path = entry.replace(/^(?:\.\/)+/, '')
  const steps = path.split('/')
  const isWayOut = path.startsWith('/') || steps.includes('..') || /[\\:\p{Cc}]/u.test(path)
  if (isWayOut || path.length > MAX_PATH) {
    throw new SkillError('The archive contains a path that leads outside it or cannot be stored')
  }
  const isHidden = steps.some((step) => step.startsWith('.') || step === '__MACOSX')
  return path === '' || isHidden ? undefined : path
}
