import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readIfPresent } from '../../lib/files.ts'
import type { Notice } from '../../lib/processes/thread.ts'

export interface IndexFilesOptions {
  directory: string
  /** What was written under another one is of no use. */
  fingerprint: string
  notify: (notice: Notice) => void
}

interface Kind {
  /** Raised when an older or newer server could not read what is on the disk. */
  format: number
  /** The name of the JSON file that says which files count. */
  manifestName: string
  /** Matches the names of the others, whose number is its first group. */
  numbered: RegExp
  /** What to report of a manifest with another fingerprint, or that cannot be read. */
  messages: { other: string; unreadable: string }
}

type Manifest<Content> = Content & {
  fingerprint: string
  /** The highest number that a file was named with. */
  generation: number
}

/**
 * The files of one part of the index. Each is written once, under a new number, and never changed; a manifest
 * with a checksum alone says which of them count.
 */
export async function openIndexFiles<Content extends object>(
  { format, manifestName, numbered, messages }: Kind,
  { directory, fingerprint, notify }: IndexFilesOptions,
) {
  await mkdir(directory, { recursive: true })
  const path = join(directory, manifestName)
  const unfinished = `${path}.new`
  const numberOf = (file: string) => Number(numbered.exec(file)?.[1] ?? 0)
  const held = await readManifest<Content>(path, format).catch((error: unknown) => {
    notify({ message: messages.unreadable, fields: { err: error } })
    return undefined
  })
  const isOther = held !== undefined && held.fingerprint !== fingerprint
  if (isOther) {
    const fields = { was: held.fingerprint, is: fingerprint }
    notify({ message: messages.other, fields })
  }
  let generation = Math.max(held?.generation ?? 0, ...(await readdir(directory)).map(numberOf))

  /** Removes what no manifest names, and the manifest where nothing is left. Touches only files that an index has made. */
  const removeAllBut = async (files: readonly string[]): Promise<void> => {
    const others = (await readdir(directory)).filter((file) => numberOf(file) > 0)
    if (files.length === 0) await rm(path, { force: true })
    await rm(unfinished, { force: true })
    for (const file of others) {
      if (!files.includes(file)) await rm(join(directory, file), { force: true })
    }
  }

  return {
    /** What the manifest holds that was there at the start, if it is of use. */
    content: isOther ? undefined : held,
    removeAllBut,
    nextNumber: () => ++generation,

    /** Makes these files the ones that a start finds, in one step that a crash or a power cut cannot halve. */
    async save(content: Content, files: readonly string[]): Promise<void> {
      const manifest: Manifest<Content> = { fingerprint, generation, ...content }
      const checksum = crc32(JSON.stringify(manifest))
      await writeDurably(unfinished, JSON.stringify({ format, checksum, manifest }))
      await rename(unfinished, path)
      // A file's name is durable once its directory is.
      if (process.platform !== 'win32') await syncToDisk(directory, 'r')
      await removeAllBut(files)
    },
  }
}

/** Nothing if there is none. Throws if it is not what was written, or of another format. */
async function readManifest<Content>(
  path: string,
  expected: number,
): Promise<Manifest<Content> | undefined> {
  const bytes = await readIfPresent(path)
  if (!bytes) return undefined
  const { format, checksum, manifest } = JSON.parse(bytes.toString())
  if (format !== expected) throw new Error(`its format is ${format}, not ${expected}`)
  if (crc32(JSON.stringify(manifest)) !== checksum) throw new Error('the checksum does not match')
  return manifest
}

/** Read and checked at a time. */
const PIECE_BYTES = 2 ** 20

/** The whole file, or its first bytes, in memory that holds nothing else and of which there is no copy. */
export async function readWhole(path: string, first?: number): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path)
  try {
    const bytes = new Uint8Array(first ?? (await file.stat()).size)
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(PIECE_BYTES, bytes.length - at))
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

/** The CRC-32 of a file of any length. */
export async function checksumOf(path: string): Promise<number> {
  const file = await open(path)
  try {
    const piece = new Uint8Array(PIECE_BYTES)
    let sum = 0
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES)
      if (bytesRead === 0) return sum
      sum = crc32(piece.subarray(0, bytesRead), sum)
    }
  } finally {
    await file.close()
  }
}

/** Resolves when the content is on the disk. */
export async function writeDurably(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
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
