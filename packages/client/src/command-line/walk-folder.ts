import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** More files should go into several folders, or need a program of their own. */
const MAX_FILES = 1_000_000

/** Hidden files, packages, locks of office programs, and what systems put into folders of their own accord. */
const SKIPPED =
  /^\.|^~\$|^(?:node_modules|Thumbs\.db|desktop\.ini|@eaDir|[#@]recycle|\$RECYCLE\.BIN|System Volume Information|lost\+found)$/i

interface WalkOptions {
  /** A path must match one of these patterns; none means all paths. */
  include: readonly string[]
  /** Includes what is skipped otherwise. */
  hidden: boolean
}

/**
 * The paths of all files below a folder, relative to it, separated by `/`, sorted. Targets of symbolic links are
 * not in the folder, and so left out. Folders that cannot be read are among them, to be reported like such files.
 */
export async function walkFolder(
  folder: string,
  { include, hidden }: WalkOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const root = await realpath(folder)
  const patterns = include.map(toExpression)
  const files: string[] = []
  const waiting = ['']
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    signal.throwIfAborted()
    const entries = await readFolder(join(root, parent), hidden).catch((error: unknown) => {
      if (parent === '') throw error
      files.push(parent)
      return []
    })
    const pathOf = ({ name }: Dirent) => (parent === '' ? name : `${parent}/${name}`)
    for (const entry of entries) {
      const path = pathOf(entry)
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile() && isIncluded(path, patterns)) files.push(path)
    }
    if (files.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} files`)
  }
  return files.sort()
}

async function readFolder(path: string, hidden: boolean): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter(({ name }) => hidden || !SKIPPED.test(name))
}

function isIncluded(path: string, patterns: readonly RegExp[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => pattern.test(path))
}

/** Converts a glob pattern of `**`, `*`, `?`, `[a-z]` and `{a,b}`; Node.js 20 has no `matchesGlob`. */
function toExpression(pattern: string): RegExp {
  return new RegExp(`^${toSource(pattern)}$`, 'su')
}

const WILDCARDS = new Map([
  ['**/', '(?:[^/]+/)*'],
  ['**', '.*'],
  ['*', '[^/]*'],
  ['?', '[^/]'],
])

function toSource(pattern: string): string {
  const parts = pattern.match(/\*\*\/|\*\*|\*|\?|\[!?[^\]]+\]|\{[^{}]+\}|./gsu) ?? []
  return parts
    .map((part) => WILDCARDS.get(part) ?? setOf(part) ?? choiceOf(part) ?? escapeSign(part))
    .join('')
}

function setOf(part: string): string | undefined {
  const [, not, signs] = /^\[(!?)([^\]]+)\]$/su.exec(part) ?? []
  return signs && `[${not && '^'}${signs.replaceAll('\\', '\\\\').replace(/^\^/, '\\^')}]`
}

function choiceOf(part: string): string | undefined {
  const [, choices] = /^\{([^{}]+)\}$/su.exec(part) ?? []
  return choices && `(?:${choices.split(',').map(toSource).join('|')})`
}

function escapeSign(sign: string): string {
  return sign.replace(/[\\^$.|?*+()[\]{}]/, '\\$&')
}
