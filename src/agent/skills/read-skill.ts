import { z } from 'zod'

/** Maximum bytes of all files of one skill together, and maximum number of files. */
export const MAX_SKILL_BYTES = 16_000_000
export const MAX_SKILL_FILES = 512
/** Maximum UTF-16 code units of SKILL.md. */
const MAX_SKILL_TEXT = 200_000
/** The file that every skill must have. */
export const SKILL_FILE = 'SKILL.md'

/** Contents by path, with forward slashes. */
export type FileContents = Map<string, Uint8Array>

/** A loaded skill; its code runs only in the sandbox, if at all. */
export interface Skill {
  name: string
  description: string
  /** The instructions: SKILL.md without its front matter. */
  body: string
  /** Names of tools, as the skill gives them; undefined if it gives none. */
  allowedTools: readonly string[] | undefined
  /** All files except SKILL.md. */
  files: Readonly<FileContents>
  /** The source it was found in, as configured. */
  source: string
  /** Tolerated deviations from the format. */
  warnings: readonly string[]
}

/** A skill or source that cannot be used; `message` says why and may be shown to clients. */
export class SkillError extends Error {
  override readonly name = 'SkillError'
}

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

/** The exact format; deviations cause warnings, and are used as far as possible. */
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

/**
 * Builds a skill from the files of a folder, whose name should be the skill's name. Throws `SkillError` if it cannot be
 * used at all.
 */
export async function readSkill(folder: string, all: FileContents, source: string): Promise<Skill> {
  const files = new Map(all)
  files.delete(SKILL_FILE)
  const text = new TextDecoder().decode(all.get(SKILL_FILE))
  if (text.length > MAX_SKILL_TEXT) {
    throw new SkillError(`${SKILL_FILE} is longer than ${MAX_SKILL_TEXT} characters`)
  }
  const bytes = files.values().reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (files.size > MAX_SKILL_FILES || bytes > MAX_SKILL_BYTES) {
    throw new SkillError(`There are more than ${MAX_SKILL_FILES} files or ${MAX_SKILL_BYTES} bytes`)
  }
  const { data, body, warnings } = await readFrontMatter(text)
  const description = oneLine(data.description)
  if (description === '') throw new SkillError('The front matter has no description')
  const name = oneLine(data.name).slice(0, MAX_NAME) || folder
  return {
    name,
    body,
    files,
    source,
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

/** Parses `Bash(git:*) Read`, also with commas, or a list: the names without what is in parentheses. */
function readTools(value: unknown): string[] | undefined {
  const text = Array.isArray(value) ? value.join(' ') : value
  if (typeof text !== 'string') return undefined
  const names = text.replaceAll(/\([^)]*\)/g, ' ').split(/[\s,]+/)
  return names.filter(Boolean).slice(0, MAX_TOOLS)
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll(/\s+/g, ' ').trim() : ''
}

/** Maximum UTF-16 code units of the YAML. */
const MAX_FRONT_MATTER = 20_000
/** Bounded because the parser's time grows with the depth of nested brackets. */
const MAX_BRACKETS = 200
/**
 * Lines between two markers. `gray-matter` itself needs no end marker, and takes text after a marker for a language.
 */
const ENCLOSED = /^\ufeff?---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*---[ \t]*(?:\r?\n|$)/
/** `key: a value: with a colon`, which many write although YAML forbids it. */
const LOOSE_LINE = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{&*!#\s].*:(?:[ \t].*)?)$/

/** By default `gray-matter` evaluates JavaScript; and passing options keeps it from caching texts forever. */
const FRONT_MATTER_OPTIONS = {
  engines: {
    yaml: (yaml: string) => ({ yaml }),
    json: refuseLanguage,
    javascript: refuseLanguage,
    coffee: refuseLanguage,
  },
}

interface FrontMatter {
  data: Record<string, unknown>
  body: string
  warnings: string[]
}

/**
 * Splits SKILL.md into front matter and body. The front matter is YAML 1.2 with the core schema: no code, no
 * language-specific types, and no aliases, which could expand without bound. Throws `SkillError`.
 */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  if (!ENCLOSED.test(text)) {
    throw new SkillError('It does not begin with YAML between two lines of ---')
  }
  const { default: matter } = await import('gray-matter')
  const { data, content } = matter(text, FRONT_MATTER_OPTIONS)
  if (typeof data.yaml !== 'string') throw new SkillError('The front matter is empty')
  return { ...(await parseFrontMatter(data.yaml)), body: content.trim() }
}

function refuseLanguage(): never {
  throw new SkillError('The front matter is not YAML')
}

async function parseFrontMatter(yaml: string): Promise<Pick<FrontMatter, 'data' | 'warnings'>> {
  if (yaml.length > MAX_FRONT_MATTER) {
    throw new SkillError(`The front matter is longer than ${MAX_FRONT_MATTER} characters`)
  }
  if ((yaml.match(/[[{]/g)?.length ?? 0) > MAX_BRACKETS) {
    throw new SkillError(`The front matter has more than ${MAX_BRACKETS} brackets`)
  }
  try {
    return { data: await parseYaml(yaml), warnings: [] }
  } catch (error) {
    const quoted = yaml.split('\n').map(quoteLoose).join('\n')
    if (quoted === yaml) throw error
    const warning = 'A value in the front matter contains a colon and should be quoted'
    return { data: await parseYaml(quoted), warnings: [warning] }
  }
}

async function parseYaml(yaml: string): Promise<Record<string, unknown>> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(yaml.trimEnd(), {
    schema: 'core',
    uniqueKeys: true,
    logLevel: 'silent',
  })
  try {
    const [fault] = [...document.errors, ...document.warnings]
    if (fault) throw fault
    if (!isMap(document.contents)) throw new Error('it must be a list of `key: value`')
    return document.toJS({ maxAliasCount: 0 })
  } catch (cause) {
    // Such as an alias, or nesting without end.
    const reason = cause instanceof Error ? cause.message.split(/:?\n/)[0] : 'it cannot be read'
    throw new SkillError(`The front matter is not usable YAML: ${reason}`, { cause })
  }
}

function quoteLoose(line: string): string {
  const [, key, value] = LOOSE_LINE.exec(line.trimEnd()) ?? []
  return value === undefined ? line : `${key}: ${JSON.stringify(value)}`
}
