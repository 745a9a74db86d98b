import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { readIfPresent } from '../../lib/files.ts'
import { parseJson } from '../../lib/text/json.ts'
import {
  ARTIFACT_BOUNDS,
  type ArtifactBounds,
  type ArtifactStore,
  describeArtifact,
} from '../artifact-store.ts'

interface Options extends Partial<ArtifactBounds> {
  /** Created if missing; nothing else may write to it. */
  directory: string
}

interface Kept {
  size: number
  createdAt: number
}

/** Artifacts as files in one directory, each written completely or not at all. */
export async function createFileArtifactStore({
  directory,
  ...bounds
}: Options): Promise<ArtifactStore> {
  const { maximumBytes, maximumTotalBytes, maximumCount, maximumAgeMs } = {
    ...ARTIFACT_BOUNDS,
    ...bounds,
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const kept = await readDirectory(directory)
  const pathOf = (id: string) => join(directory, id)
  const isExpired = ({ createdAt }: Kept) => createdAt + maximumAgeMs <= Date.now()

  /** Removes files, oldest first, until there is room for one of `size` bytes. */
  async function makeRoom(size: number): Promise<void> {
    let total = kept.values().reduce((sum, file) => sum + file.size, size)
    for (const [id, file] of kept) {
      const fits = total <= maximumTotalBytes && kept.size < maximumCount
      if (fits && !isExpired(file)) return
      kept.delete(id)
      total -= file.size
      await rm(pathOf(id), { force: true })
    }
  }

  async function write(id: string, file: ArtifactFile): Promise<Kept> {
    const { size } = file
    await makeRoom(size)
    const added = { size, createdAt: Date.now() }
    await writeArtifactFile(pathOf(id), file)
    kept.set(id, added)
    return added
  }

  /** Writes run one after another: two that made room at the same time would both use that room. */
  let written: Promise<unknown> = Promise.resolve()

  return {
    maximumBytes,
    async add({ bytes, owner, ...file }) {
      const { id, ...described } = describeArtifact({ ...file, bytes }, maximumBytes)
      const writing = written.then(() =>
        write(id, { ...described, bytes, ...(owner && { owner }) }),
      )
      written = writing.catch(() => undefined)
      const { createdAt } = await writing
      return { id, ...described, expiresAt: createdAt + maximumAgeMs }
    },
    async remove(id) {
      const known = kept.get(id)
      if (!known) return false
      kept.delete(id)
      await rm(pathOf(id), { force: true })
      return !isExpired(known)
    },
    async read(id, asked) {
      const known = kept.get(id)
      if (!known || isExpired(known)) return undefined
      const file = await readArtifactFile(pathOf(id))
      if (!file || (asked !== undefined && asked !== file.owner)) return undefined
      const { bytes, owner: _owner, ...described } = file
      const expiresAt = known.createdAt + maximumAgeMs
      return { artifact: { id, ...described, expiresAt }, bytes }
    },
  }
}

/** The files that an earlier process left, oldest first; incomplete files are removed. */
async function readDirectory(directory: string): Promise<Map<string, Kept>> {
  const found: [string, Kept][] = []
  for (const id of await readdir(directory)) {
    const path = join(directory, id)
    if (!/^[a-z]+_[0-9a-f]{32}$/.test(id)) {
      await rm(path, { recursive: true, force: true })
      continue
    }
    const { size, mtimeMs } = await stat(path)
    found.push([id, { size, createdAt: mtimeMs }])
  }
  return new Map(found.toSorted(([, a], [, b]) => a.createdAt - b.createdAt))
}

const Header = z.object({
  name: z.string(),
  mediaType: z.string(),
  size: z.int(),
  owner: z.string().optional(),
})

interface ArtifactFile extends z.output<typeof Header> {
  bytes: Uint8Array
}

const NEW_LINE = 0x0a

/**
 * Writes one line of JSON, then the bytes; the file gets its final name only once it is complete. Throws
 * `storage_full`.
 */
async function writeArtifactFile(path: string, { bytes, ...header }: ArtifactFile): Promise<void> {
  const part = `${path}.part`
  try {
    const content = [`${JSON.stringify(header)}\n`, bytes]
    await writeFile(part, content, { mode: 0o600, flush: true })
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
    if (!isFull) throw error
    throw new AppError('storage_full', 'The disk of the artifacts is full', { cause: error })
  }
}

/** Returns undefined if the file does not exist or is incomplete. */
async function readArtifactFile(path: string): Promise<ArtifactFile | undefined> {
  const content = await readIfPresent(path)
  const end = content?.indexOf(NEW_LINE) ?? -1
  if (!content || end === -1) return undefined
  const header = Header.safeParse(parseJson(content.toString('utf8', 0, end)))
  const bytes = content.subarray(end + 1)
  if (!header.success || header.data.size !== bytes.length) return undefined
  return { ...header.data, bytes }
}
