import { open, readFile, rename } from 'node:fs/promises'
import { z } from 'zod'

const Header = z.object({ name: z.string(), mediaType: z.string(), size: z.int() })

export interface ArtifactFile extends z.output<typeof Header> {
  bytes: Uint8Array
}

const NEW_LINE = 0x0a

/** One line of JSON, then the bytes; under its final name only once it is whole. */
export async function writeArtifactFile(
  path: string,
  { name, mediaType, size, bytes }: ArtifactFile,
): Promise<void> {
  const file = await open(`${path}.part`, 'w', 0o600)
  try {
    await file.write(`${JSON.stringify({ name, mediaType, size })}\n`)
    await file.writeFile(bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(`${path}.part`, path)
}

/** Nothing where there is no such file, or not all of it. */
export async function readArtifactFile(path: string): Promise<ArtifactFile | undefined> {
  const content = await readIfThere(path)
  const end = content?.indexOf(NEW_LINE) ?? -1
  if (!content || end === -1) return undefined
  const header = Header.safeParse(parseJson(content.toString('utf8', 0, end)))
  const bytes = content.subarray(end + 1)
  if (!header.success || header.data.size !== bytes.length) return undefined
  return { ...header.data, bytes }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
