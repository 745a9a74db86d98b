import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfPresent } from '../../lib/files.ts'
import { type OpenLockFile, parseLockFile } from '../lock-file.ts'

/** Lock files as JSON files, `<name>.json`, in a directory that the first change creates. */
export function fileLockFiles(directory: string): OpenLockFile {
  return async (name, schema, initial) => {
    const path = join(directory, `${name}.json`)
    const text = await readIfPresent(path)
    const refusal = `${path} is not a lock file of this version`
    let content = text ? parseLockFile(text.toString(), schema, refusal) : initial
    let last: Promise<unknown> = Promise.resolve()

    return {
      read: async () => content,
      update(change) {
        const next = last.then(async () => {
          const changed = change(content)
          await mkdir(directory, { recursive: true })
          await writeFile(`${path}.new`, `${JSON.stringify(changed, null, 2)}\n`, { flush: true })
          await rename(`${path}.new`, path)
          content = changed
          return changed
        })
        // The next change waits for this one, whether it succeeds or fails.
        last = next.catch(() => undefined)
        return next
      },
    }
  }
}
