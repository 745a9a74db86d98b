import { hash } from 'node:crypto'
import { z } from 'zod'
import type { SkillCopies } from '../../stores/skill-copies.ts'
import type { Found } from './read-folder.ts'
import { SkillError } from './skill.ts'
import { skillsOfFiles } from './skills-of-files.ts'
import type { Files } from './unpack-limits.ts'

/** Others may accept something else meanwhile; again and again they do not. */
const MOST_TRIES = 5

const Copy = z.array(z.tuple([z.string(), z.base64()]))

export interface RemoteSkills {
  /** What was accepted last. Throws `SkillError` where there is no copy of it. */
  kept(source: string): Promise<Found>
  /**
   * What the source gives now: used if it is new or as it was accepted, or if it is accepted by this call.
   * Otherwise, and where the source gives nothing, the copy is used and the failure told.
   */
  update(source: string, fetch: () => Promise<Files>, accept: boolean): Promise<Found>
}

export function createRemoteSkills(copies: SkillCopies): RemoteSkills {
  async function kept(source: string): Promise<Found> {
    const copy = await copies.read(source)
    const files = copy && decode(copy.bytes)
    if (!files || digestOf(files) !== copy.digest) throw new SkillError('There is no copy of it')
    return skillsOfFiles(files, nameOf(source), source)
  }

  /** False where it differs from what was accepted, and is not to be accepted. */
  async function keep(source: string, files: Files, accept: boolean): Promise<boolean> {
    const digest = digestOf(files)
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const known = await copies.accepted(source)
      if (known !== undefined && known !== digest && !accept) return false
      if (await copies.keep(source, { digest, bytes: encode(files) }, known)) return true
    }
    throw new SkillError('Others accept something else at the same time')
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
      return (await keep(source, files, accept)) ? found : fallBack(source, CHANGED)
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

function encode(files: Files): Uint8Array {
  const copy = [...files].map(([path, content]) => [path, Buffer.from(content).toString('base64')])
  return Buffer.from(JSON.stringify(copy))
}

function decode(bytes: Uint8Array): Files | undefined {
  try {
    const copy = Copy.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
    return new Map(copy.map(([name, content]) => [name, Buffer.from(content, 'base64')]))
  } catch {
    // Damaged: as good as none.
    return undefined
  }
}
