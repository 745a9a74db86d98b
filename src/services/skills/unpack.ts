import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Entry as ZipEntry } from 'yauzl'
import { type FileContents, MAX_SKILL_BYTES, MAX_SKILL_FILES, SkillError } from './read-skill.ts'

/** Of all skills of one archive together. */
export const MAX_UNPACKED_BYTES = 4 * MAX_SKILL_BYTES
const MAX_UNPACKED_FILES = 4 * MAX_SKILL_FILES
/** A whole repository may be in the archive, of which a part is wanted. */
const MAX_TAR_BYTES = 256_000_000
const MAX_PATH = 300
/** Archives as they were before POSIX count, too; the types do not know of them. */
const TAR_OPTIONS = { highWaterMark: 65_536, allowUnknownFormat: true }

const ZIP_SIGNATURE = 'PK'
const FILE_TYPE_BITS = 0o170000
const SYMBOLIC_LINK = 0o120000

const inflate = promisify(gunzip)

/** The files of an archive, whose kind its first bytes tell: names and media types are often wrong. Throws `SkillError`. */
export function unpack(bytes: Uint8Array): Promise<FileContents> {
  const signature = Buffer.from(bytes.subarray(0, ZIP_SIGNATURE.length)).toString('latin1')
  return signature === ZIP_SIGNATURE ? unpackZip(bytes) : unpackTar(bytes)
}

/**
 * The files of a gzipped tar archive. Of a repository's archive, those below a path, where the archive's own
 * folder does not count. Throws `SkillError`.
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
      else throw new SkillError('The archive holds a link')
    }
  } catch (error) {
    throw asSkillError(error, 'The archive is broken')
  }
  return unpacking.files
}

async function inflateBounded(bytes: Uint8Array): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: MAX_TAR_BYTES })
  } catch (cause) {
    const reason = `is not gzipped, is broken, or has more than ${MAX_TAR_BYTES} bytes`
    throw new SkillError(`The archive ${reason}`, { cause })
  }
}

/** The sizes that the archive lies about are found out while reading. */
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
    throw asSkillError(error, 'The archive is no zip archive, is broken, or lies about itself')
  }
  return unpacking.files
}

function checkEntry(entry: ZipEntry): void {
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE_BITS
  if (type === SYMBOLIC_LINK) throw new SkillError('The archive holds a link')
  if (entry.isEncrypted()) throw new SkillError('The archive is encrypted')
}

function asSkillError(error: unknown, message: string): SkillError {
  return error instanceof SkillError ? error : new SkillError(message, { cause: error })
}

/** Takes the files of an archive as long as there is room. */
function startUnpacking() {
  const files: FileContents = new Map()
  let room = MAX_UNPACKED_BYTES
  return {
    files,
    /** Throws `SkillError` where a file of this size would be one too many or too large. */
    async add(path: string, size: number, content: AsyncIterable<unknown>): Promise<void> {
      if (files.has(path)) throw new SkillError('The archive holds a path twice')
      room -= size
      if (room < 0 || files.size >= MAX_UNPACKED_FILES) {
        const bounds = `${MAX_UNPACKED_FILES} files or ${MAX_UNPACKED_BYTES} bytes`
        throw new SkillError(`Unpacked, there are more than ${bounds}`)
      }
      files.set(path, await buffer(content))
    },
  }
}

/** Where an entry goes; nothing for one that is not wanted. */
function placeOf(name: string, part: { below: string } | undefined): string | undefined {
  const path = archivePath(name)
  if (!part || path === undefined) return path
  const inside = path.split('/').slice(1).join('/')
  const below = part.below === '' ? '' : `${part.below}/`
  return inside.startsWith(below) ? inside.slice(below.length) || undefined : undefined
}

/**
 * The path of an entry, if it may be used: below the archive's root on every system. Nothing for what is of
 * no use, such as hidden files. Throws `SkillError` for a way out.
 */
function archivePath(entry: string): string | undefined {
  const path = entry.replace(/^(?:\.\/)+/, '')
  const steps = path.split('/')
  const isWayOut = path.startsWith('/') || steps.includes('..') || /[\\:\p{Cc}]/u.test(path)
  if (isWayOut || path.length > MAX_PATH) {
    throw new SkillError('The archive holds a path that leads out of it or cannot be kept')
  }
  const isHidden = steps.some((step) => step.startsWith('.') || step === '__MACOSX')
  return path === '' || isHidden ? undefined : path
}
