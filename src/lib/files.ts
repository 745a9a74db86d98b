import { randomUUID } from 'node:crypto'
import { access, chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'

/** The content of a file; nothing where there is no such file. */
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

/** Whether a call of the file system failed because there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/**
 * Writes a file whole or not at all. One that is there keeps its permissions and, behind a link, its place; a new
 * one gets `mode`.
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
