import { parseEnv } from 'node:util'
import { refusal } from '../../schemas/invalid-request.ts'

interface VariableDescription {
  group: string
  meaning: string
}

/** What the comments of an example say of each variable: those right above it, under the heading of its group. */
export function readDescriptions(example: string): Map<string, VariableDescription> {
  const descriptions = new Map<string, VariableDescription>()
  let group = ''
  let comments: string[] = []
  for (const line of example.split(/\r?\n/)) {
    const [, heading] = /^# --- (.*?):? -+$/.exec(line) ?? []
    const [, name] = /^#?([A-Z][A-Z0-9_]*)=/.exec(line) ?? []
    const [, comment] = /^# (.*)$/.exec(line) ?? []
    if (heading) group = heading.replace(/: see .*/, '')
    else if (name) descriptions.set(name, { group, meaning: comments.join(' ') })
    if (comment && !heading) comments.push(comment)
    else comments = []
  }
  return descriptions
}

/**
 * The text of a `.env` with variables set, or cleared where the value is nothing: each in its line, or in the
 * one that had it commented out, or at the end. Throws `invalid_request` for what such a file cannot hold.
 */
export function editEnvironment(
  text: string,
  changes: ReadonlyMap<string, string | undefined>,
  defaults: ReadonlyMap<string, string | undefined>,
): string {
  let edited = text
  const expected = { ...parseEnv(text) }
  for (const [name, value] of changes) {
    edited =
      value === undefined
        ? edited.replaceAll(lineOf(name, 'gm'), `#${name}=${defaults.get(name) ?? ''}`)
        : setLine(edited, name, `${name}=${quote(value)}`)
    if (value === undefined) delete expected[name]
    else expected[name] = value
    // Whatever the file holds besides, such as values of several lines: nothing else has changed.
    const found = parseEnv(edited)
    const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])]
    if (names.every((one) => found[one] === expected[one])) continue
    const message = 'cannot be written into this file: edit it by hand'
    throw refusal(value === undefined ? name : `set.${name}`, message)
  }
  return edited
}

function lineOf(name: string, flags: string, before = ''): RegExp {
  return new RegExp(`^${before}[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*$`, flags)
}

function setLine(text: string, name: string, line: string): string {
  const lines = [...text.matchAll(lineOf(name, 'gm'))]
  const place = lines.at(-1) ?? lineOf(name, 'm', '#[ \\t]*').exec(text)
  // The last one counts, in files that name a variable twice.
  if (place) return text.slice(0, place.index) + line + text.slice(place.index + place[0].length)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return `${text}${text === '' || text.endsWith('\n') ? '' : end}${line}${end}`
}

/** Bare where that is safe, else in the quotes that do not stand in the value. */
function quote(value: string): string {
  if (/^[\w./:@%+,=*?&~!;()[\]{}<>|^$-]+$/.test(value)) return value
  const mark = ["'", '`', '"'].find((one) => !value.includes(one)) ?? "'"
  return `${mark}${value}${mark}`
}
