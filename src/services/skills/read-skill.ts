import { isMap, parseDocument } from 'yaml'
import { z } from 'zod'

const MAX_NAME = 64
const MAX_DESCRIPTION = 1_024
const MAX_COMPATIBILITY = 500
const MAX_TOOLS = 64
const ADVISED_LINES = 500

const Name = z
  .string()
  .max(MAX_NAME, `is longer than ${MAX_NAME} characters`)
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
    .max(MAX_DESCRIPTION, `is longer than ${MAX_DESCRIPTION} characters`),
  license: z.string().optional(),
  compatibility: z.string().min(1).max(MAX_COMPATIBILITY).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  'allowed-tools': z.string().optional(),
})

interface SkillParts {
  /** The folder's name, which is to be the skill's. */
  folder: string
  /** What SKILL.md says. */
  text: string
  files: readonly SkillFile[]
  source: string
}

/** Makes a skill of its parts. Throws `SkillError` where it cannot be used at all. */
export function readSkill({ folder, text, files, source }: SkillParts): Skill {
  if (text.length > MAX_SKILL_TEXT) {
    throw new SkillError(`${SKILL_FILE} is longer than ${MAX_SKILL_TEXT} characters`)
  }
  const { data, body, warnings } = readFrontMatter(text)
  const description = oneLine(data.description)
  if (description === '') throw new SkillError('The front matter has no description')
  const name = oneLine(data.name).slice(0, MAX_NAME) || folder
  return {
    ...{ name, body, files, source },
    description: description.slice(0, MAX_DESCRIPTION),
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
  return names.filter(Boolean).slice(0, MAX_TOOLS)
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll(/\s+/g, ' ').trim() : ''
}

/** UTF-16 code units between the two marks. */
const MAX_FRONT_MATTER = 20_000
/** Of brackets within one another the parser takes the longer the more there are. */
const MAX_BRACKETS = 200
const PARTS = /^\ufeff?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/
/** `key: a value: with a colon`, which many write and YAML forbids. */
const LOOSE_LINE = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{&*!#\s].*:(?:[ \t].*)?)$/

interface FrontMatter {
  data: Record<string, unknown>
  body: string
  warnings: string[]
}

/**
 * Splits SKILL.md. The front matter is YAML 1.2 of the core schema: no code, no types of other languages, no
 * aliases, which could grow without bound. Throws `SkillError`.
 */
export function readFrontMatter(text: string): FrontMatter {
  const parts = PARTS.exec(text)
  const [, yaml = '', body = ''] = parts ?? []
  if (!parts) {
    throw new SkillError('It does not begin with YAML between two lines of ---')
  }
  if (yaml.length > MAX_FRONT_MATTER) {
    throw new SkillError(`The front matter is longer than ${MAX_FRONT_MATTER} characters`)
  }
  if ((yaml.match(/[[{]/g)?.length ?? 0) > MAX_BRACKETS) {
    throw new SkillError(`The front matter has more than ${MAX_BRACKETS} brackets`)
  }
  const strict = parseYaml(yaml)
  if (strict.data) return { data: strict.data, body: body.trim(), warnings: [] }
  const loose = parseYaml(yaml.split('\n').map(quoteLoose).join('\n'))
  if (!loose.data) throw new SkillError(`The front matter is not usable YAML: ${strict.reason}`)
  const warning = 'A value of the front matter holds a colon and should stand in quotes'
  return { data: loose.data, body: body.trim(), warnings: [warning] }
}

type Parsed = { data: Record<string, unknown> } | { data?: never; reason: string }

function parseYaml(yaml: string): Parsed {
  try {
    const document = parseDocument(yaml, { schema: 'core', uniqueKeys: true, logLevel: 'silent' })
    const [fault] = [...document.errors, ...document.warnings]
    if (fault) return { reason: fault.message.split('\n')[0] ?? 'it cannot be read' }
    if (!isMap(document.contents)) return { reason: 'it must be a list of `key: value`' }
    return { data: document.toJS({ maxAliasCount: 0 }) }
  } catch (error) {
    // An alias, or nesting without end.
    return { reason: error instanceof Error ? error.message : 'it cannot be read' }
  }
}

function quoteLoose(line: string): string {
  const [, key, value] = LOOSE_LINE.exec(line.trimEnd()) ?? []
  return value === undefined ? line : `${key}: ${JSON.stringify(value)}`
}

/** Of all files of one skill together, and how many. */
export const MAX_SKILL_BYTES = 16_000_000
export const MAX_SKILL_FILES = 512
/** UTF-16 code units of SKILL.md. */
export const MAX_SKILL_TEXT = 200_000
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
