import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'

/** More belong into several folders, or into a program of their own. */
const MOST_FILES = 1_000_000

export interface WalkOptions {
  /** Patterns of which a path must match one; none means all. */
  include: readonly string[]
  /** Also what begins with a dot, and node_modules. */
  hidden: boolean
}

/**
 * The paths of all files beneath a folder, relative to it, with `/` between their parts, sorted. What a
 * symbolic link points to is not in the folder, and so left out.
 */
export async function walkFolder(
  folder: string,
  { include, hidden }: WalkOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const root = await realpath(folder)
  const files: string[] = []
  const waiting = ['']
  const isIncluded = (path: string) =>
    include.length === 0 || include.some((pattern) => matchesGlob(path, pattern))

  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    signal.throwIfAborted()
    const entries = await readFolder(join(root, parent), hidden)
    const pathOf = ({ name }: Dirent) => (parent === '' ? name : `${parent}/${name}`)
    waiting.push(...entries.filter((entry) => entry.isDirectory()).map(pathOf))
    files.push(
      ...entries
        .filter((entry) => entry.isFile())
        .map(pathOf)
        .filter(isIncluded),
    )
    if (files.length > MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files`)
  }
  return files.sort()
}

async function readFolder(path: string, hidden: boolean): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true })
  return entries.filter(({ name }) => hidden || !(name.startsWith('.') || name === 'node_modules'))
}
