import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readIfPresent } from '../../lib/files.ts'

/** Raise it when an older or newer server could not read what is on the disk. */
const FORMAT = 1

/** Which files of a directory count, in a JSON file with a checksum: a file that it does not name is not part of the index. */
export function createManifestFile<Content>(directory: string, name: string) {
  const path = join(directory, name)
  const unfinished = `${path}.new`

  return {
    /** Nothing if there is none. Throws if it is not what `write` wrote, or of another format. */
    async read(): Promise<Content | undefined> {
      const bytes = await readIfPresent(path)
      if (!bytes) return undefined
      const { format, checksum, manifest } = JSON.parse(bytes.toString())
      if (format !== FORMAT) throw new Error(`its format is ${format}, not ${FORMAT}`)
      if (crc32(JSON.stringify(manifest)) !== checksum) {
        throw new Error('the checksum does not match')
      }
      return manifest
    },

    /** Replaces the manifest in one step that a crash or a power cut cannot halve. */
    async write(manifest: Content): Promise<void> {
      const checksum = crc32(JSON.stringify(manifest))
      await writeDurably(unfinished, JSON.stringify({ format: FORMAT, checksum, manifest }))
      await rename(unfinished, path)
      // A file's name is durable once its directory is.
      if (process.platform !== 'win32') await syncToDisk(directory, 'r')
    },

    async remove(): Promise<void> {
      await rm(path, { force: true })
    },

    /** Removes what an interrupted `write` left behind. */
    async tidy(): Promise<void> {
      await rm(unfinished, { force: true })
    },
  }
}

/** Resolves when the content is on the disk. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Resolves when a file that something else wrote, or the names in a directory, are on the disk. */
export async function syncToDisk(path: string, flags: 'r' | 'r+'): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
