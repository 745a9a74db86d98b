import { randomUUID } from 'node:crypto'
import {
  access,
  chmod,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './system-error.ts'

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
  return codeOf(error) === 'ENOENT'
}

/**
 * Writes a file atomically and durably. An existing one keeps its permissions and, behind a symbolic link, its place; a
 * new one gets `mode`.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | Iterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  const isThere = await exists(path)
  const target = isThere ? await realpath(path) : path
  const part = `${target}.${randomUUID()}.new`
  try {
    await writeFile(part, content, { flush: true, flag: 'wx', mode })
    if (isThere) await chmod(part, (await stat(target)).mode)
    await putInPlace(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Gives a complete and synced file its name. When it resolves, the name is durable, too. */
export async function putInPlace(part: string, path: string): Promise<void> {
  await rename(part, path)
  // Windows cannot sync a directory.
  if (process.platform === 'win32') return
  const directory = await open(dirname(path))
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
