import {
  type BoundedText,
  createBoundedText,
  type Extracted,
  oneLine,
  toCodeBlock,
} from '../extracted.ts'

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** One line per record, each value preceded by its path. What is neither JSON nor JSON Lines is kept as it is. */
export function extractJson(source: string): Extracted {
  const value = parse(source) ?? parseLines(source)
  if (value === undefined) return { text: toCodeBlock(source, 'json') }
  const text = createBoundedText()
  if (Array.isArray(value)) addRecords(text, value)
  else if (typeof value === 'object' && value !== null) addSections(text, value)
  else text.add(`${value}\n`)
  return { text: text.toString() }
}

/** Enough digits for an integer that JavaScript might round. */
const LONG_NUMBER = /\d{16}/

function parse(source: string): Json | undefined {
  try {
    // The reviver is used only where such a number may occur, since it doubles the time of parsing.
    return JSON.parse(source, LONG_NUMBER.test(source) ? asWritten : undefined)
  } catch {
    return undefined
  }
}

/** Long numbers are mostly IDs, which must not change. */
function asWritten(_name: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value)
  return isRounded ? (context?.source ?? value) : value
}

function parseLines(source: string): Json[] | undefined {
  const records: Json[] = []
  for (const line of source.split('\n')) {
    if (line.trim() === '') continue
    const record = parse(line)
    if (record === undefined) return undefined
    records.push(record)
  }
  return records
}

function addRecords(text: BoundedText, records: readonly Json[]): void {
  for (const record of records) {
    const line = [...pairs(record, '')].join('; ')
    if (line !== '') text.add(`- ${line}\n`)
  }
}

/** Plain values come first; each value that is an object or a list follows under a heading of its own. */
function addSections(text: BoundedText, object: { [name: string]: Json }): void {
  const isSection = ([, value]: [string, Json]) => typeof value === 'object' && value !== null
  const entries = Object.entries(object)
  for (const [name, value] of entries.filter((entry) => !isSection(entry))) {
    for (const pair of pairs(value, name)) text.add(`${pair}\n\n`)
  }
  for (const [name, value] of entries.filter(isSection)) {
    text.add(`\n## ${name}\n\n`)
    if (Array.isArray(value)) addRecords(text, value)
    else for (const pair of pairs(value, '')) text.add(`${pair}\n\n`)
  }
}

/** Every value that is neither a list nor an object, as `path: value`. */
function* pairs(value: Json, path: string): Generator<string> {
  if (value === null) return
  if (typeof value !== 'object') yield withPath(path, String(value))
  else if (Array.isArray(value)) yield* pairsOfList(value, path)
  else {
    for (const [name, inner] of Object.entries(value)) {
      yield* pairs(inner, path === '' ? name : `${path}.${name}`)
    }
  }
}

function* pairsOfList(list: readonly Json[], path: string): Generator<string> {
  const isFlat = list.length > 0 && list.every((inner) => typeof inner !== 'object')
  if (isFlat) yield withPath(path, list.join(', '))
  else for (const inner of list) yield* pairs(inner, path)
}

function withPath(path: string, value: string): string {
  const line = oneLine(value)
  return path === '' ? line : `${path}: ${line}`
}
