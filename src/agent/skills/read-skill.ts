import { writtenText } from '@agent-server/lib/text/written-text.ts'
import { z } from 'zod'

/** Maximum bytes of all files of one skill together, and maximum number of files. */
export const MAX_SKILL_BYTES = 16_000_000
export const MAX_SKILL_FILES = 512
/** Maximum UTF-16 code units of SKILL.md. */
const MAX_SKILL_TEXT = 200_000
/** The file that every skill must have. */
export const SKILL_FILE = 'SKILL.md'

/** The name of the file among others: on many disks, `skill.md` is the same. */
export const skillFileIn = (names: readonly string[]): string | undefined =>
  names.find((name) => name === SKILL_FILE) ?? names.find((name) => /^skill\.md$/i.test(name))

/** Contents by path, with forward slashes. */
export type FileContents = Map<string, Uint8Array>

/** A loaded skill; its code runs only in the sandbox, if at all. */
export interface Skill {
  name: string
  description: string
  /** The instructions: SKILL.md without its front matter. */
  body: string
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
  const fileName = skillFileIn([...all.keys()]) ?? SKILL_FILE
  files.delete(fileName)
  const text = writtenText(all.get(fileName) ?? new Uint8Array())
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
    warnings: [
      ...(fileName === SKILL_FILE
        ? []
        : [`The file should be called ${SKILL_FILE}, not ${fileName}`]),
      ...warnings,
      ...departures(data),
      ...advice(name, folder, body),
    ],
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
const ENCLOSED = /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*---[ \t]*(?:\r?\n|$)/
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
  const begun = text.trimStart()
  if (!ENCLOSED.test(begun)) {
    throw new SkillError('It does not begin with YAML between two lines of ---')
  }
  const { default: matter } = await import('gray-matter')
  const { data, content } = matter(begun, FRONT_MATTER_OPTIONS)
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
  const strict = yaml.replaceAll(CUT_SHORT, (_line, key, value) => quoted(key, value))
  try {
    return { data: await parseYaml(strict), warnings: strict === yaml ? [] : [UNQUOTED] }
  } catch (error) {
    const quotedYaml = await quoteLoose(strict)
    if (quotedYaml === strict) throw error
    return { data: await parseYaml(quotedYaml), warnings: [UNQUOTED] }
  }
}

const UNQUOTED = 'A value in the front matter should be quoted: YAML reads it otherwise'

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

/** A description that YAML would cut at ` #`, as a comment; one in quotes, or of several lines, is left alone. */
const CUT_SHORT = /^(description):[ \t]+([^"'|>[{&*!#\s].*[ \t]#.*)$(?!\n[ \t])/gm
/** The beginning of a field. */
const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+|$)/
/** What is meant as YAML even if it is wrong: anchors, tags, aliases, and blocks of text. */
const MEANT = /^(?:[&!]|\*\S*$|[|>][-+\d]*[ \t]*(?:#|\n|$))/

/** The YAML with each field in quotes that cannot be read by itself: many write texts as if it were no YAML. */
async function quoteLoose(yaml: string): Promise<string> {
  const fields: string[] = []
  for (const line of yaml.replaceAll(/^\t+/gm, '  ').split(/\r?\n/)) {
    if (FIELD.test(line) || fields.length === 0) fields.push(line)
    else fields.push(`${fields.pop()}\n${line}`)
  }
  const mended = fields.map(async (field) => {
    const isSound = await parseYaml(field).then(Boolean, () => false)
    return isSound ? field : quoteField(field)
  })
  return (await Promise.all(mended)).join('\n')
}

function quoteField(field: string): string {
  const [start, key = ''] = FIELD.exec(field) ?? []
  if (start === undefined) return field
  const value = field.slice(start.length)
  // A name with brackets or quotes is a mistake rather than a text.
  if (MEANT.test(value) || (key === 'name' && !/:(?:\s|$)/.test(value))) return field
  return quoted(key, value)
}

const quoted = (key: string, value: string) =>
  `${key}: ${JSON.stringify(value.replaceAll(/\s+/g, ' ').trim())}`
