import { opendir, realpath } from 'node:fs/promises'
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
  const isWanted = (name: string) => hidden || !(name.startsWith('.') || name === 'node_modules')
  const isIncluded = (path: string) =>
    include.length === 0 || include.some((pattern) => matchesGlob(path, pattern))

  /** Answers the folders within. */
  const look = async (parent: string): Promise<string[]> => {
    const folders: string[] = []
    for await (const entry of await opendir(join(root, parent))) {
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`
      if (!isWanted(entry.name)) continue
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() && isIncluded(path)) files.push(path)
    }
    return folders
  }
  const waiting = ['']
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted()
    waiting.push(...(await look(next)))
    if (files.length > MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files`)
  }
  return files.sort()
}
