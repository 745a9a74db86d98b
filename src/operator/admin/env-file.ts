import { isDeepStrictEqual, parseEnv } from 'node:util'
import { refusal } from '@agent-server/schemas/invalid-request.ts'

/**
 * Returns the text of a `.env` with variables set, or cleared where the value is undefined: each on its line, or on the
 * line where it was commented out, or at the end. Throws AppError `invalid_request` for what such a file cannot hold.
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
    // Checks that nothing else has changed, even in a file with multi-line values.
    const parsed = parseEnv(edited)
    if (isDeepStrictEqual({ ...parsed }, expected)) continue
    const message = 'cannot be written to this file; edit the file by hand'
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
  // If a file names a variable twice, the last one counts.
  if (place) return text.slice(0, place.index) + line + text.slice(place.index + place[0].length)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return `${text}${text === '' || text.endsWith('\n') ? '' : end}${line}${end}`
}

/** Unquoted where that is safe, else in a quotation mark that does not occur in the value. */
function quote(value: string): string {
  if (/^[\w./:@%+,=*?&~!;()[\]{}<>|^$-]+$/.test(value)) return value
  const mark = ["'", '`', '"'].find((one) => !value.includes(one)) ?? "'"
  return `${mark}${value}${mark}`
}
