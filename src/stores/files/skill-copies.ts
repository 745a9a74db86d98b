import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { OpenLockFile } from '../lock-file.ts'
import type { SkillCopies, SkillCopy } from '../skill-copies.ts'

/** The digest of what was accepted from each remote source. */
const SkillLock = z.strictObject({
  version: z.literal(1),
  sources: z.record(z.string(), z.string()),
})

interface Dependencies {
  openLockFile: OpenLockFile
  /** Where copies are stored; created with the first one. */
  directory: string
}

/** One file per copy, and a lock file with the digests. */
export async function createFileSkillCopies({
  openLockFile,
  directory,
}: Dependencies): Promise<SkillCopies> {
  const lockFile = await openLockFile('skills-lock', SkillLock, { version: 1, sources: {} })
  const pathOf = (source: string) => join(directory, `${hash('sha256', source)}.json`)

  async function accepted(source: string): Promise<string | undefined> {
    const { sources } = await lockFile.read()
    return Object.hasOwn(sources, source) ? sources[source] : undefined
  }

  async function write(source: string, { bytes }: SkillCopy): Promise<void> {
    await mkdir(directory, { recursive: true })
    // A unique name, since a source may be read twice at the same time.
    const whole = `${pathOf(source)}.${randomUUID()}`
    await writeFile(whole, bytes, { flush: true })
    await rename(whole, pathOf(source))
  }

  return {
    accepted,
    async read(source) {
      const digest = await accepted(source)
      const bytes = digest === undefined ? undefined : await readIfThere(pathOf(source))
      return digest === undefined || !bytes ? undefined : { digest, bytes }
    },
    async keep(source, copy, known) {
      if ((await accepted(source)) !== known) return false
      await write(source, copy)
      await lockFile.update(({ version, sources }) => ({
        version,
        sources: { ...sources, [source]: copy.digest },
      }))
      return true
    },
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path)
  } catch {
    // Missing or unreadable: it is fetched again.
    return undefined
  }
}
