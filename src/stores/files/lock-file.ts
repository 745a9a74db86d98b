import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { readIfPresent } from '../../lib/files.ts'
import type { OpenLockFile } from '../lock-file.ts'

/** Lock files as JSON files of a directory, `<name>.json`, which is made with the first change. */
export function fileLockFiles(directory: string): OpenLockFile {
  return async (name, schema, initial) => {
    const path = join(directory, `${name}.json`)
    const text = await readIfPresent(path)
    let content = text === undefined ? initial : parse(path, text, schema)
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
        // The next change waits for this one and does not care how it ended.
        last = next.catch(() => undefined)
        return next
      },
    }
  }
}

function parse<Schema extends z.ZodType>(
  path: string,
  text: Buffer,
  schema: Schema,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text.toString()))
  } catch (error) {
    throw new Error(`${path} is not a lock file of this version; mend it or remove it`, {
      cause: error,
    })
  }
}
