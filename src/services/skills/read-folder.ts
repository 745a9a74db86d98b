import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import {
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  MAX_SKILL_TEXT,
  readSkill,
  SKILL_FILE,
  type Skill,
  SkillError,
  type SkillFile,
} from './read-skill.ts'
import type { FileContents } from './unpack.ts'

const MAX_DEPTH = 5
/** Folders that are looked into for skills. */
const MAX_FOLDERS = 2_000
/** Folders that hold no skill of their own, whatever is in them. */
const NOT_SEARCHED = new Set(['node_modules', '.git'])

/** What a source gives. */
export interface SkillSet {
  skills: Skill[]
  /** The folders whose skill cannot be used, and why. */
  failures: { name: string; reason: string }[]
}

export const NO_SKILLS: SkillSet = { skills: [], failures: [] }

/** Every skill at or below a folder. Throws `SkillError` where the folder cannot be searched. */
export async function readFolder(folder: string, source: string): Promise<SkillSet> {
  const found: SkillSet = { skills: [], failures: [] }
  const root = await realpath(folder).catch((cause) => {
    throw new SkillError('There is no such folder', { cause })
  })
  const folders = [{ path: root, depth: 0 }]
  // Grows while it is walked.
  for (const { path, depth } of folders) {
    const entries = await readdir(path, { withFileTypes: true })
    if (entries.some((entry) => entry.isFile() && entry.name === SKILL_FILE)) {
      try {
        found.skills.push(await readLocal(path, source))
      } catch (error) {
        found.failures.push(toFailure(basename(path), error))
      }
    } else if (depth < MAX_DEPTH) {
      const below = entries.filter((entry) => entry.isDirectory() && !NOT_SEARCHED.has(entry.name))
      const inOrder = below.map(({ name }) => name).toSorted()
      folders.push(...inOrder.map((name) => ({ path: join(path, name), depth: depth + 1 })))
    }
    if (folders.length > MAX_FOLDERS) {
      throw new SkillError(`There are more than ${MAX_FOLDERS} folders`)
    }
  }
  return found
}

function toFailure(name: string, error: unknown): SkillSet['failures'][number] {
  if (!(error instanceof SkillError)) throw error
  return { name, reason: error.message }
}

async function readLocal(path: string, source: string): Promise<Skill> {
  const { size } = await stat(join(path, SKILL_FILE))
  // Bytes are no fewer than the code units that they become.
  if (size > 4 * MAX_SKILL_TEXT) throw new SkillError(`${SKILL_FILE} is too large`)
  const text = await readFile(join(path, SKILL_FILE), 'utf8')
  return readSkill({ folder: basename(path), text, source, files: await listFiles(path) })
}

/** The other files. Links are left out, for they may lead anywhere; a recursive `readdir` would follow them. */
async function listFiles(root: string): Promise<SkillFile[]> {
  const paths: string[] = []
  const folders = [root]
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true })
    for (const entry of entries.filter(isPlain)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (path !== join(root, SKILL_FILE)) paths.push(path)
    }
    if (paths.length > MAX_SKILL_FILES || folders.length > MAX_SKILL_FILES) {
      throw new SkillError(`There are more than ${MAX_SKILL_FILES} files or folders`)
    }
  }
  return Promise.all(paths.toSorted().map((path) => toSkillFile(root, path)))
}

async function toSkillFile(root: string, path: string): Promise<SkillFile> {
  const { size } = await stat(path)
  return {
    size,
    path: relative(root, path).split(sep).join('/'),
    async read() {
      // What is a file now may have become a link since the start.
      const real = await realpath(path)
      if (real !== path) throw new SkillError('The file has moved')
      if ((await stat(real)).size > MAX_SKILL_BYTES) throw new SkillError('The file has grown')
      return readFile(real)
    },
  }
}

/** Neither hidden nor a link. */
function isPlain(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || NOT_SEARCHED.has(entry.name)) return false
  return entry.isFile() || entry.isDirectory()
}

/** Every skill among files that were unpacked; one at the root has the name that is given. */
export function skillsOfFiles(files: FileContents, rootName: string, source: string): SkillSet {
  const found: SkillSet = { skills: [], failures: [] }
  const roots = [...files.keys()]
    .filter((path) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`))
    .map((path) => path.slice(0, -SKILL_FILE.length))
    .toSorted()
  // A skill within a skill is a resource of the outer one.
  const outermost = roots.filter(
    (root) => !roots.some((other) => other !== root && root.startsWith(other)),
  )
  for (const root of outermost) {
    const folder = root.split('/').at(-2) ?? rootName
    try {
      found.skills.push(readSkillOf(files, root, folder, source))
    } catch (error) {
      found.failures.push(toFailure(folder, error))
    }
  }
  if (roots.length === 0) throw new SkillError(`There is no ${SKILL_FILE} in it`)
  return found
}

function readSkillOf(files: FileContents, root: string, folder: string, source: string): Skill {
  const own = [...files].filter(([path]) => path.startsWith(root) && path !== root + SKILL_FILE)
  const resources = own.map(
    ([path, content]): SkillFile => ({
      path: path.slice(root.length),
      size: content.length,
      read: async () => content,
    }),
  )
  const text = new TextDecoder().decode(files.get(root + SKILL_FILE))
  return readSkill({ folder, text, files: resources, source })
}
