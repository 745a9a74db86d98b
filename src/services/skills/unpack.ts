import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl'
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, SkillError } from './read-skill.ts'

const BLOCK = 512
/** A whole repository may be in the archive, of which a part is wanted. */
const MAX_TAR_BYTES = 256_000_000

const KIND = { file: '0', old: '\0', folder: '5', longName: 'L', pax: 'x', paxGlobal: 'g' }

const inflate = promisify(gunzip)

interface TarEntry {
  name: string
  kind: string
  content: Buffer
}

/**
 * The files of a gzipped tar archive. Of a repository's archive, those below a path, where the archive's own
 * folder does not count. Throws `SkillError`.
 */
export async function unpackTar(bytes: Uint8Array, part?: { below: string }): Promise<Files> {
  const unpacking = startUnpacking()
  for (const { name, kind, content } of namedEntries(await inflateBounded(bytes))) {
    const path = placeOf(name, part)
    if (path === undefined || kind === KIND.folder) continue
    if (kind !== KIND.file && kind !== KIND.old) throw new SkillError('The archive holds a link')
    unpacking.reserve(path, content.length)
    unpacking.files.set(path, Uint8Array.from(content))
  }
  return unpacking.files
}

/** The entries under their whole names, which may stand in entries of their own before them. */
function* namedEntries(tar: Buffer): Generator<TarEntry> {
  let longName: string | undefined
  for (const entry of entriesOf(tar)) {
    if (entry.kind === KIND.longName) longName = text(entry.content)
    else if (entry.kind === KIND.pax) longName = paxPath(entry.content) ?? longName
    else if (entry.kind !== KIND.paxGlobal) {
      yield { ...entry, name: longName ?? entry.name }
      longName = undefined
    }
  }
}

async function inflateBounded(bytes: Uint8Array): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: MAX_TAR_BYTES })
  } catch (error) {
    throw new SkillError(
      `The archive is not gzipped, is broken, or has more than ${MAX_TAR_BYTES} bytes`,
      { cause: error },
    )
  }
}

function* entriesOf(tar: Buffer): Generator<TarEntry> {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const head = tar.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) return
    const size = Number.parseInt(text(head.subarray(124, 136)).trim() || '0', 8)
    const end = at + BLOCK + size
    if (!Number.isSafeInteger(size) || size < 0 || end > tar.length) {
      throw new SkillError('The archive is broken')
    }
    const prefix = text(head.subarray(257, 262)) === 'ustar' ? text(head.subarray(345, 500)) : ''
    const name = text(head.subarray(0, 100))
    yield {
      name: prefix ? `${prefix}/${name}` : name,
      kind: String.fromCharCode(head[156] ?? 0),
      content: tar.subarray(at + BLOCK, end),
    }
    at = end + ((BLOCK - (size % BLOCK)) % BLOCK)
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

/** `30 path=folder/file\n` */
function paxPath(content: Buffer): string | undefined {
  return /^\d+ path=(.*)$/m.exec(content.toString('utf8'))?.[1]
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end)
}

const KIND_OF_FILE = 0o170000
const LINK = 0o120000

const open: (bytes: Buffer, options: Options) => Promise<ZipFile> = promisify(fromBuffer)

/** The files of a zip archive. Throws `SkillError`; sizes that the archive lies about are found out while reading. */
export async function unpackZip(bytes: Uint8Array): Promise<Files> {
  const unpacking = startUnpacking()
  try {
    const zip = await open(Buffer.from(bytes), { lazyEntries: true, strictFileNames: true })
    for await (const entry of zipEntriesOf(zip)) {
      const path = archivePath(entry.fileName)
      if (path === undefined || path.endsWith('/')) continue
      checkEntry(entry)
      unpacking.reserve(path, entry.uncompressedSize)
      unpacking.files.set(path, await readEntry(zip, entry))
    }
  } catch (error) {
    if (error instanceof SkillError) throw error
    throw new SkillError('The archive is no zip archive, is broken, or lies about itself', {
      cause: error,
    })
  }
  return unpacking.files
}

function checkEntry(entry: Entry): void {
  const kind = (entry.externalFileAttributes >>> 16) & KIND_OF_FILE
  if (kind === LINK) throw new SkillError('The archive holds a link')
  if (entry.isEncrypted()) throw new SkillError('The archive is encrypted')
}

async function* zipEntriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (let count = 0; count < zip.entryCount; count += 1) {
    yield await new Promise<Entry>((resolve, reject) => {
      zip.once('entry', resolve)
      zip.once('error', reject)
      zip.readEntry()
    })
  }
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const stream = await promisify(zip.openReadStream.bind(zip))(entry)
  return buffer(stream)
}

/** Of all skills of one archive together. */
export const MAX_UNPACKED_BYTES = 4 * MAX_SKILL_BYTES
const MAX_UNPACKED_FILES = 4 * MAX_SKILL_FILES

export type Files = Map<string, Uint8Array>

/** Takes the files of an archive as long as there is room. */
interface Unpacking {
  files: Files
  /** Throws `SkillError` where a file of this size would be one too many or too large. */
  reserve(path: string, size: number): void
}

function startUnpacking(): Unpacking {
  const files: Files = new Map()
  const reserved = new Set<string>()
  let room = MAX_UNPACKED_BYTES
  return {
    files,
    reserve(path, size) {
      if (reserved.has(path)) throw new SkillError('The archive holds a path twice')
      reserved.add(path)
      room -= size
      if (room >= 0 && reserved.size <= MAX_UNPACKED_FILES) return
      throw new SkillError(
        `Unpacked, there are more than ${MAX_UNPACKED_FILES} files or ${MAX_UNPACKED_BYTES} bytes`,
      )
    },
  }
}

const MAX_PATH = 300

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
