/** Of all files of one skill together, and how many. */
export const MAXIMUM_SKILL_BYTES = 16_000_000
export const MAXIMUM_SKILL_FILES = 512
/** UTF-16 code units of SKILL.md. */
export const MAXIMUM_SKILL_TEXT = 200_000
/** The one file that every skill has. */
export const SKILL_FILE = 'SKILL.md'

export interface SkillFile {
  /** Below the folder of the skill, with forward slashes. */
  path: string
  /** In bytes. */
  size: number
  read(): Promise<Uint8Array>
}

/** A skill as it was loaded; nothing in it has been run, and nothing will be but in the sandbox. */
export interface Skill {
  name: string
  description: string
  /** The instructions: SKILL.md without its front matter. */
  body: string
  /** Names of tools, as the skill gives them; nothing where it does not say. */
  allowedTools: readonly string[] | undefined
  /** All but SKILL.md. */
  files: readonly SkillFile[]
  /** Where it was found, as configured. */
  source: string
  /** What departs from the format and was put up with. */
  warnings: readonly string[]
}

/** A skill or a source that cannot be used; `message` says why and may be shown. */
export class SkillError extends Error {
  override readonly name = 'SkillError'
}
