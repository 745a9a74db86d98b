import type { Found } from './read-folder.ts'
import { readSkill } from './read-skill.ts'
import {
  MAXIMUM_SKILL_BYTES,
  MAXIMUM_SKILL_FILES,
  SKILL_FILE,
  type Skill,
  SkillError,
  type SkillFile,
} from './skill.ts'
import type { Files } from './unpack-limits.ts'

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
      found.skills.push(readOne(files, root, folder, source))
    } catch (error) {
      if (!(error instanceof SkillError)) throw error
      found.failures.push({ name: folder, reason: error.message })
    }
  }
  if (roots.length === 0) throw new SkillError(`There is no ${SKILL_FILE} in it`)
  return found
}

function readOne(files: Files, root: string, folder: string, source: string): Skill {
  const own = [...files].filter(([path]) => path.startsWith(root) && path !== root + SKILL_FILE)
  const bytes = own.reduce((sum, [, content]) => sum + content.length, 0)
  if (own.length > MAXIMUM_SKILL_FILES || bytes > MAXIMUM_SKILL_BYTES) {
    throw new SkillError(
      `There are more than ${MAXIMUM_SKILL_FILES} files or ${MAXIMUM_SKILL_BYTES} bytes`,
    )
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
