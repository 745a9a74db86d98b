import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

interface Envelope<Manifest> {
  format: number
  manifest: Manifest
}

/** What a file is called until it is whole. */
export function unfinished(file: string): string {
  return `${file}.new`
}

/** Replaces the file in one step that a crash or a power cut cannot halve. */
export async function writeCheckedJson<Manifest>(
  directory: string,
  file: string,
  { format, manifest }: Envelope<Manifest>,
): Promise<void> {
  const path = join(directory, unfinished(file))
  const checksum = crc32(JSON.stringify(manifest))
  const handle = await open(path, 'w')
  try {
    await handle.writeFile(JSON.stringify({ format, checksum, manifest }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(path, join(directory, file))
  await syncDirectory(directory)
}

/** Nothing if there is none. Throws if it is not what `writeCheckedJson` wrote, or of another format. */
export async function readCheckedJson<Manifest>(
  directory: string,
  file: string,
  expected: number,
): Promise<Manifest | undefined> {
  const text = await readFile(join(directory, file), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const { format, checksum, manifest } = JSON.parse(text)
  if (format !== expected) throw new Error(`its format is ${format}, not ${expected}`)
  if (crc32(JSON.stringify(manifest)) !== checksum) throw new Error('the checksum does not match')
  return manifest
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** A file's name is durable once its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
