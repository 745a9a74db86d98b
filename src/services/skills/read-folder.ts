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
import type { Files } from './unpack.ts'

const MAX_DEPTH = 5
/** Folders that are looked into for skills. */
const MAX_FOLDERS = 2_000
/** Folders that hold no skill of their own, whatever is in them. */
const NOT_SEARCHED = new Set(['node_modules', '.git'])

export interface Found {
  skills: Skill[]
  /** The folders whose skill cannot be used, and why. */
  failures: { name: string; reason: string }[]
}

/** Every skill at or below a folder. Throws `SkillError` where the folder cannot be searched. */
export async function readFolder(folder: string, source: string): Promise<Found> {
  const found: Found = { skills: [], failures: [] }
  const level = [{ path: await existing(folder), depth: 0 }]
  for (let looked = 0; level.length > 0; looked += 1) {
    if (looked >= MAX_FOLDERS) throw new SkillError(`There are more than ${MAX_FOLDERS} folders`)
    const { path, depth } = level.shift() ?? { path: folder, depth: MAX_DEPTH }
    const entries = await readdir(path, { withFileTypes: true })
    if (entries.some(isSkillFile)) {
      await readInto(found, path, source)
    } else if (depth < MAX_DEPTH) {
      const below = entries.filter((entry) => entry.isDirectory() && !NOT_SEARCHED.has(entry.name))
      const inOrder = below.map(({ name }) => name).toSorted()
      level.push(...inOrder.map((name) => ({ path: join(path, name), depth: depth + 1 })))
    }
  }
  return found
}

async function existing(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (error) {
    throw new SkillError('There is no such folder', { cause: error })
  }
}

async function readInto({ skills, failures }: Found, path: string, source: string): Promise<void> {
  try {
    skills.push(await readOne(path, source))
  } catch (error) {
    if (!(error instanceof SkillError)) throw error
    failures.push({ name: basename(path), reason: error.message })
  }
}

async function readOne(path: string, source: string): Promise<Skill> {
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
  return bounded(await Promise.all(paths.toSorted().map((path) => toSkillFile(root, path))))
}

function bounded(files: SkillFile[]): SkillFile[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > MAX_SKILL_BYTES) {
    throw new SkillError(`The files have more than ${MAX_SKILL_BYTES} bytes`)
  }
  return files
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

function isSkillFile(entry: Dirent): boolean {
  return entry.isFile() && entry.name === SKILL_FILE
}

/** Every skill among files that were unpacked; one at the root has the name that is given. */
export function skillsOfFiles(files: Files, rootName: string, source: string): Found {
  const found: Found = { skills: [], failures: [] }
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
      if (!(error instanceof SkillError)) throw error
      found.failures.push({ name: folder, reason: error.message })
    }
  }
  if (roots.length === 0) throw new SkillError(`There is no ${SKILL_FILE} in it`)
  return found
}

function readSkillOf(files: Files, root: string, folder: string, source: string): Skill {
  const own = [...files].filter(([path]) => path.startsWith(root) && path !== root + SKILL_FILE)
  const bytes = own.reduce((sum, [, content]) => sum + content.length, 0)
  if (own.length > MAX_SKILL_FILES || bytes > MAX_SKILL_BYTES) {
    throw new SkillError(`There are more than ${MAX_SKILL_FILES} files or ${MAX_SKILL_BYTES} bytes`)
  }
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
