import { constants, type Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { messageOf } from '@agent-server/lib/system-error.ts'
import {
  type FileContents,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  readSkill,
  SKILL_FILE,
  type Skill,
  SkillError,
  skillFileIn,
} from './read-skill.ts'
import { MAX_UNPACKED_BYTES } from './unpack.ts'

/** What was a file when its folder was listed may have been replaced by a link since. */
const NO_LINKS = constants.O_RDONLY | constants.O_NOFOLLOW
const MAX_DEPTH = 5
/** Folders that are searched for skills. */
const MAX_FOLDERS = 2_000
/** Folders that are never searched, whatever they contain. */
const NOT_SEARCHED = new Set(['node_modules', '.git'])

/** The skills found in one source. */
export interface SkillSet {
  skills: Skill[]
  /** Folders whose skill cannot be used, and why. */
  failures: { name: string; reason: string }[]
}

export const NO_SKILLS: SkillSet = { skills: [], failures: [] }

/**
 * Reads every skill at or below a folder, and those that links in it lead to. Throws `SkillError` if the folder cannot be
 * searched.
 */
export async function readFolder(folder: string, source: string): Promise<SkillSet> {
  const skills: SkillSet = { skills: [], failures: [] }
  const root = await realpath(folder).catch((cause) => {
    throw new SkillError('There is no such folder', { cause })
  })
  const folders = [{ path: root, name: basename(root), depth: 0 }]
  let room = MAX_UNPACKED_BYTES
  // The array grows while it is iterated.
  for (const { path, name, depth } of folders) {
    const entries = await readdir(path, { withFileTypes: true })
    const file = skillFileIn(entries.filter(isNoFolder).map((entry) => entry.name))
    if (file !== undefined) {
      await addSkill(skills, name, async () => {
        const files = await readFiles(path, Math.min(room, MAX_SKILL_BYTES))
        if (!files.has(file)) throw new SkillError(`${file} is a link, which is not followed`)
        for (const { byteLength } of files.values()) room -= byteLength
        return readSkill(name, files, source)
      })
    } else if (depth < MAX_DEPTH) {
      const below = entries.filter((entry) => entry.isDirectory() && !NOT_SEARCHED.has(entry.name))
      const inOrder = below.map((entry) => entry.name).toSorted()
      const linked = await linkedSkills(path, entries, skills)
      folders.push(
        ...inOrder.map((name) => ({ path: join(path, name), name, depth: depth + 1 })),
        ...linked.map((link) => ({ ...link, depth: MAX_DEPTH })),
      )
    }
    if (folders.length > MAX_FOLDERS) {
      throw new SkillError(`There are more than ${MAX_FOLDERS} folders`)
    }
  }
  return skills
}

const isNoFolder = (entry: Dirent) => entry.isFile() || entry.isSymbolicLink()

/** The skills that links in a folder lead to, as people share them; what else is linked is not searched. */
async function linkedSkills(folder: string, entries: readonly Dirent[], { failures }: SkillSet) {
  const folders: { path: string; name: string }[] = []
  for (const { name } of entries.filter((entry) => entry.isSymbolicLink())) {
    try {
      const path = await realpath(join(folder, name))
      if (!(await stat(path)).isDirectory()) continue
      if (skillFileIn(await readdir(path)) === undefined) {
        failures.push({ name, reason: `It is a link to a folder without ${SKILL_FILE}` })
      } else {
        folders.push({ path, name })
      }
    } catch (error) {
      failures.push({ name, reason: `It is a link that cannot be followed: ${messageOf(error)}` })
    }
  }
  return folders
}

async function addSkill(set: SkillSet, name: string, read: () => Promise<Skill>) {
  try {
    set.skills.push(await read())
  } catch (error) {
    if (!(error instanceof SkillError)) throw error
    set.failures.push({ name, reason: error.message })
  }
}

/**
 * Reads the files below a skill's folder. Links are left out, since they may lead anywhere; a recursive `readdir` would
 * follow them.
 */
async function readFiles(root: string, room: number): Promise<FileContents> {
  const paths: string[] = []
  const folders = [root]
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true })
    for (const entry of entries.filter(isPlain)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else paths.push(path)
    }
    if (paths.length > MAX_SKILL_FILES + 1 || folders.length > MAX_SKILL_FILES) {
      throw new SkillError(`There are more than ${MAX_SKILL_FILES} files or folders`)
    }
  }
  const files: FileContents = new Map()
  let remaining = room
  for (const path of paths.toSorted()) {
    remaining -= (await stat(path)).size
    if (remaining < 0) throw new SkillError(`There are more than ${room} bytes`)
    files.set(relative(root, path).split(sep).join('/'), await readFile(path, { flag: NO_LINKS }))
  }
  return files
}

/** A file or folder that is neither hidden, nor a link, nor excluded. */
function isPlain(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || NOT_SEARCHED.has(entry.name)) return false
  return entry.isFile() || entry.isDirectory()
}

/** Every skill among unpacked files; a skill at the root is named `rootName`. Throws `SkillError` if there is none. */
export async function skillsOfFiles(
  files: FileContents,
  rootName: string,
  source: string,
): Promise<SkillSet> {
  const set: SkillSet = { skills: [], failures: [] }
  const paths = [...files.keys()].filter((path) => /(?:^|\/)skill\.md$/i.test(path))
  const roots = [...new Set(paths.map((path) => path.slice(0, -SKILL_FILE.length)))].toSorted()
  // A skill inside another skill is a resource of the outer one.
  const outermost = roots.filter(
    (root) => !roots.some((other) => other !== root && root.startsWith(other)),
  )
  for (const root of outermost) {
    const folder = root.split('/').at(-2) ?? rootName
    const skillFiles = [...files].filter(([path]) => path.startsWith(root))
    const inside = new Map(skillFiles.map(([path, content]) => [path.slice(root.length), content]))
    await addSkill(set, folder, () => readSkill(folder, inside, source))
  }
  if (roots.length === 0) throw new SkillError(`There is no ${SKILL_FILE} in it`)
  return set
}
