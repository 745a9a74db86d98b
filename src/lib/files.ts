import { randomUUID } from 'node:crypto'
import { access, chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'

/** The content of a file; undefined if there is no such file. */
export async function readIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Whether a file system call failed because there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

const WRONG: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is in no folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened by this user',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'has no room on its disk',
}

/** Explains a failed file system call to whoever named the path; undefined for any other error. */
export function explainPath(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'path' in error)) return undefined
  const wrong = WRONG[String(error.code)]
  return wrong && `${error.path} ${wrong}`
}

/**
 * Writes a file atomically. An existing one keeps its permissions and, behind a symbolic link, its place; a new one
 * gets `mode`.
 */
export async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const isThere = await exists(path)
  const target = isThere ? await realpath(path) : path
  const part = `${target}.${randomUUID()}.new`
  try {
    await writeFile(part, content, { flush: true, flag: 'wx', mode })
    if (isThere) await chmod(part, (await stat(target)).mode)
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
