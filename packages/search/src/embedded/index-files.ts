import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { putInPlace, readIfPresent } from '@agent-server/lib/files.ts'
import type { Notice } from '@agent-server/lib/processes/thread.ts'

export interface IndexFilesOptions {
  directory: string
  /** Files written with another fingerprint are unusable. */
  fingerprint: string
  notify: (notice: Notice) => void
}

interface Kind {
  /** Incremented when older or newer servers could not read the files. */
  format: number
  /** Name of the JSON file that says which files are valid. */
  manifestName: string
  /** Matches the names of the other files; the first group is the number. */
  numbered: RegExp
  /** What to log if the manifest has another fingerprint or cannot be read. */
  messages: { other: string; unreadable: string }
}

type Manifest<Content> = Content & {
  fingerprint: string
  /** The highest number used in a file name. */
  generation: number
}

interface Saved<Content> {
  format: number
  checksum: number
  manifest: Manifest<Content>
}

/**
 * The files of one part of the index. Each is written once, under a new number, and never changed; only the
 * manifest, which has a checksum, says which of them are valid.
 */
export async function openIndexFiles<Content extends object>(
  { format, manifestName, numbered, messages }: Kind,
  { directory, fingerprint, notify }: IndexFilesOptions,
) {
  await mkdir(directory, { recursive: true })
  const path = join(directory, manifestName)
  const unfinished = `${path}.new`
  const numberOf = (file: string) => Number(numbered.exec(file)?.[1] ?? 0)
  const manifest = await readManifest<Content>(path, format).catch((error: unknown) => {
    notify({ message: messages.unreadable, fields: { err: error } })
    return undefined
  })
  const isOther = manifest !== undefined && manifest.fingerprint !== fingerprint
  if (isOther) {
    const fields = { was: manifest.fingerprint, is: fingerprint }
    notify({ message: messages.other, fields })
  }
  let generation = Math.max(manifest?.generation ?? 0, ...(await readdir(directory)).map(numberOf))

  /** Deletes all index files but these, and the manifest if there are none. Touches only files of the index. */
  const removeAllBut = async (files: readonly string[]): Promise<void> => {
    const others = (await readdir(directory)).filter((file) => numberOf(file) > 0)
    if (files.length === 0) await rm(path, { force: true })
    await rm(unfinished, { force: true })
    for (const file of others) {
      if (!files.includes(file)) await rm(join(directory, file), { force: true })
    }
  }

  return {
    /** The content of the manifest found at start-up; undefined if there was none or it is unusable. */
    content: isOther ? undefined : manifest,
    removeAllBut,
    nextNumber: () => ++generation,

    /** Makes these files the current ones, atomically even if there is a crash or power cut; deletes all others. */
    async save(content: Content, files: readonly string[]): Promise<void> {
      const manifest: Manifest<Content> = { fingerprint, generation, ...content }
      const checksum = crc32(JSON.stringify(manifest))
      await writeDurably(unfinished, JSON.stringify({ format, checksum, manifest }))
      await putInPlace(unfinished, path)
      await removeAllBut(files)
    },
  }
}

/** Returns undefined if there is none. Throws if it is damaged or has another format. */
async function readManifest<Content>(
  path: string,
  expected: number,
): Promise<Manifest<Content> | undefined> {
  const bytes = await readIfPresent(path)
  if (!bytes) return undefined
  // The checksum shows that this module wrote it, in this format.
  const { format, checksum, manifest } = JSON.parse(bytes.toString()) as Saved<Content>
  if (format !== expected) throw new Error(`its format is ${format}, not ${expected}`)
  if (crc32(JSON.stringify(manifest)) !== checksum) throw new Error('the checksum does not match')
  return manifest
}

/** Reads the whole file into a buffer of its own. */
export async function readWhole(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path)
  try {
    const bytes = new Uint8Array((await file.stat()).size)
    let at = 0
    for (let read = -1; read !== 0; at += read) read = (await file.read(bytes, at)).bytesRead
    return bytes
  } finally {
    await file.close()
  }
}

/** The CRC-32 of a file of any length. */
export async function checksumOf(path: string): Promise<number> {
  let sum = 0
  for await (const piece of createReadStream(path)) sum = crc32(piece, sum)
  return sum
}

/** Writes a file; resolves when the content is synced to disk. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Syncs to disk a file that was written elsewhere, or the names in a directory. */
export async function syncToDisk(path: string, flags: 'r' | 'r+'): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
