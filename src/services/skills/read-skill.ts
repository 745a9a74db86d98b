import { z } from 'zod'
import { readFrontMatter } from './front-matter.ts'
import { MAXIMUM_SKILL_TEXT, SKILL_FILE, type Skill, SkillError, type SkillFile } from './skill.ts'

const MAXIMUM_NAME = 64
const MAXIMUM_DESCRIPTION = 1_024
const MAXIMUM_COMPATIBILITY = 500
const MAXIMUM_TOOLS = 64
const ADVISED_LINES = 500

const Name = z
  .string()
  .max(MAXIMUM_NAME, `is longer than ${MAXIMUM_NAME} characters`)
  .regex(
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
    'is not lower-case letters and digits with single hyphens between them',
  )

/** The format word for word; what departs from it is warned of, and used where it can be. */
const Format = z.strictObject({
  name: Name,
  description: z
    .string()
    .min(1)
    .max(MAXIMUM_DESCRIPTION, `is longer than ${MAXIMUM_DESCRIPTION} characters`),
  license: z.string().optional(),
  compatibility: z.string().min(1).max(MAXIMUM_COMPATIBILITY).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  'allowed-tools': z.string().optional(),
})

export interface SkillParts {
  /** The folder's name, which is to be the skill's. */
  folder: string
  /** What SKILL.md says. */
  text: string
  files: readonly SkillFile[]
  source: string
}

/** Makes a skill of its parts. Throws `SkillError` where it cannot be used at all. */
export function readSkill({ folder, text, files, source }: SkillParts): Skill {
  if (text.length > MAXIMUM_SKILL_TEXT) {
    throw new SkillError(`${SKILL_FILE} is longer than ${MAXIMUM_SKILL_TEXT} characters`)
  }
  const { data, body, warnings } = readFrontMatter(text)
  const description = oneLine(data.description)
  if (description === '') throw new SkillError('The front matter has no description')
  const name = oneLine(data.name).slice(0, MAXIMUM_NAME) || folder
  return {
    ...{ name, body, files, source },
    description: description.slice(0, MAXIMUM_DESCRIPTION),
    allowedTools: readTools(data['allowed-tools']),
    warnings: [...warnings, ...departures(data), ...advice(name, folder, body)],
  }
}

function departures(data: Record<string, unknown>): string[] {
  const issues = Format.safeParse(data).error?.issues ?? []
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${key}: is not a field of the format`)
      : [`${issue.path.join('.')}: ${issue.message}`],
  )
}

function advice(name: string, folder: string, body: string): string[] {
  const lines = body.split('\n').length
  return [
    ...(name === folder ? [] : [`name: is not the name of its folder, ${folder}`]),
    ...(lines > ADVISED_LINES
      ? [`The instructions have ${lines} lines; at most 500 are advised`]
      : []),
    ...(body === '' ? ['There are no instructions'] : []),
  ]
}

/** `Bash(git:*) Read`, with commas too, or a list: the names without what stands in parentheses. */
function readTools(value: unknown): string[] | undefined {
  const text = Array.isArray(value) ? value.join(' ') : value
  if (typeof text !== 'string') return undefined
  const names = text.replaceAll(/\([^)]*\)/g, ' ').split(/[\s,]+/)
  return names.filter(Boolean).slice(0, MAXIMUM_TOOLS)
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll(/\s+/g, ' ').trim() : ''
}
