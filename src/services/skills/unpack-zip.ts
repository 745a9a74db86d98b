import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl'
import { archivePath } from './archive-path.ts'
import { SkillError } from './skill.ts'
import { type Files, startUnpacking } from './unpack-limits.ts'

const KIND_OF_FILE = 0o170000
const LINK = 0o120000

const open: (bytes: Buffer, options: Options) => Promise<ZipFile> = promisify(fromBuffer)

/** The files of a zip archive. Throws `SkillError`; sizes that the archive lies about are found out while reading. */
export async function unpackZip(bytes: Uint8Array): Promise<Files> {
  const unpacking = startUnpacking()
  try {
    const zip = await open(Buffer.from(bytes), { lazyEntries: true, strictFileNames: true })
    for await (const entry of entriesOf(zip)) {
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

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
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
