import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { LockFile } from '../../lib/lock-file.ts'
import type { Found } from './read-folder.ts'
import { SkillError } from './skill.ts'
import { skillsOfFiles } from './skills-of-files.ts'
import type { Files } from './unpack-limits.ts'

/** The digest of what was accepted of each remote source. */
export const SkillPins = z.strictObject({
  version: z.literal(1),
  sources: z.record(z.string(), z.string()),
})
export type SkillPins = z.output<typeof SkillPins>

export const NO_SKILL_PINS: SkillPins = { version: 1, sources: {} }

const Copy = z.array(z.tuple([z.string(), z.base64()]))

interface Dependencies {
  lock: LockFile<SkillPins>
  /** Where copies are kept. */
  directory: string
}

export interface RemoteSkills {
  /** What was accepted last. Throws `SkillError` where there is no copy of it. */
  kept(source: string): Promise<Found>
  /**
   * What the source gives now: used if it is new or as it was accepted, or if it is accepted by this call.
   * Otherwise, and where the source gives nothing, the copy is used and the failure told.
   */
  update(source: string, fetch: () => Promise<Files>, accept: boolean): Promise<Found>
}

export function createRemoteSkills({ lock, directory }: Dependencies): RemoteSkills {
  const pathOf = (source: string) => join(directory, `${hash('sha256', source)}.json`)
  const pinOf = (source: string) => new Map(Object.entries(lock.read().sources)).get(source)

  async function kept(source: string): Promise<Found> {
    const files = await readCopy(pathOf(source))
    if (!files || digestOf(files) !== pinOf(source)) throw new SkillError('There is no copy of it')
    return skillsOfFiles(files, nameOf(source), source)
  }

  async function keep(source: string, files: Files): Promise<void> {
    await mkdir(directory, { recursive: true })
    const copy = [...files].map(([path, content]) => [
      path,
      Buffer.from(content).toString('base64'),
    ])
    // Of its own, since a source may be read twice at once.
    const whole = `${pathOf(source)}.${randomUUID()}`
    await writeFile(whole, JSON.stringify(copy), { flush: true })
    await rename(whole, pathOf(source))
    const digest = digestOf(files)
    await lock.update(({ version, sources }) => ({
      version,
      sources: { ...sources, [source]: digest },
    }))
  }

  async function fallBack(source: string, reason: string): Promise<Found> {
    const copy = await kept(source).catch(() => undefined)
    if (!copy) throw new SkillError(reason)
    const failure = { name: source, reason: `${reason}; the copy that was accepted is used` }
    return { skills: copy.skills, failures: [...copy.failures, failure] }
  }

  return {
    kept,
    async update(source, fetch, accept) {
      let files: Files
      try {
        files = await fetch()
      } catch (error) {
        if (error instanceof SkillError) return fallBack(source, error.message)
        throw error
      }
      // Before anything is kept: what holds no skill is no better than nothing.
      const found = skillsOfFiles(files, nameOf(source), source)
      const pin = pinOf(source)
      if (pin !== undefined && pin !== digestOf(files) && !accept) return fallBack(source, CHANGED)
      await keep(source, files)
      return found
    },
  }
}

const CHANGED =
  'It has changed since it was accepted; look at it and accept it with POST /agent/skills/reload {"accept": true}'

/** Of the files alone, since the same files may come in different archives. */
function digestOf(files: Files): string {
  const parts = [...files].map(([path, content]) => `${hash('sha256', content)} ${path}`)
  return hash('sha256', parts.toSorted().join('\n'))
}

function nameOf(source: string): string {
  const path = URL.parse(source)?.pathname ?? source
  const last = path.split('/').findLast(Boolean) ?? 'skill'
  return last.replace(/\.(?:skill|zip|tar\.gz|tgz)$/i, '')
}

async function readCopy(path: string): Promise<Files | undefined> {
  try {
    const copy = Copy.parse(JSON.parse(await readFile(path, 'utf8')))
    return new Map(copy.map(([name, content]) => [name, Buffer.from(content, 'base64')]))
  } catch {
    return undefined
  }
}
