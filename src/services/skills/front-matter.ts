import { isMap, parseDocument } from 'yaml'
import { SkillError } from './skill.ts'

/** UTF-16 code units between the two marks. */
const MAXIMUM_FRONT_MATTER = 20_000
/** Of brackets within one another the parser takes the longer the more there are. */
const MAXIMUM_BRACKETS = 200
const PARTS = /^\ufeff?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/
/** `key: a value: with a colon`, which many write and YAML forbids. */
const LOOSE_LINE = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{&*!#\s].*:(?:[ \t].*)?)$/

export interface FrontMatter {
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
  if (yaml.length > MAXIMUM_FRONT_MATTER) {
    throw new SkillError(`The front matter is longer than ${MAXIMUM_FRONT_MATTER} characters`)
  }
  if ((yaml.match(/[[{]/g)?.length ?? 0) > MAXIMUM_BRACKETS) {
    throw new SkillError(`The front matter has more than ${MAXIMUM_BRACKETS} brackets`)
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
