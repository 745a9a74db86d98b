import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { GuardedFetch } from '../../lib/outbound/guarded-fetch.ts'
import type { ReadSource } from './create-skills.ts'
import { fetchSkills, unpack } from './fetch-skills.ts'
import { type Found, readFolder } from './read-folder.ts'
import type { RemoteSkills } from './remote-skills.ts'
import { DEFAULT_SOURCE } from './settings.ts'
import { MAXIMUM_SKILL_BYTES, SkillError } from './skill.ts'
import { skillsOfFiles } from './skills-of-files.ts'
import { kindOfSource } from './source-kind.ts'

const NOTHING: Found = { skills: [], failures: [] }

interface Dependencies {
  /** The path of a local source. */
  resolve: (source: string) => string
  remote: RemoteSkills
  fetch: GuardedFetch['fetch']
}

/** Reads sources of every kind; offline, remote ones give the copy that was accepted last. */
export function createSourceReader({ resolve, remote, fetch }: Dependencies): ReadSource {
  return async (source, { offline = false, accept = false }, signal) => {
    const kind = kindOfSource(source)
    if (kind.kind === 'folder') return readLocalFolder(resolve(source), source)
    if (kind.kind === 'archive') return readArchive(resolve(source), source)
    if (offline) return remote.kept(source).catch(() => NOTHING)
    return remote.update(source, () => fetchSkills(kind, fetch, signal), accept)
  }
}

async function readLocalFolder(path: string, source: string): Promise<Found> {
  try {
    return await readFolder(path, source)
  } catch (error) {
    // What nobody asked for may be missing.
    if (source === DEFAULT_SOURCE && error instanceof SkillError) return NOTHING
    throw error
  }
}

async function readArchive(path: string, source: string): Promise<Found> {
  const size = await stat(path).then(
    (found) => found.size,
    () => undefined,
  )
  if (size === undefined) throw new SkillError('There is no such file')
  if (size > MAXIMUM_SKILL_BYTES) {
    throw new SkillError(`The archive has more than ${MAXIMUM_SKILL_BYTES} bytes`)
  }
  const name = basename(path).replace(/\.(?:skill|zip|tar\.gz|tgz)$/i, '')
  return skillsOfFiles(await unpack(await readFile(path)), name, source)
}
