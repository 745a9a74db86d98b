import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'

/** A small JSON file that says what has been accepted before. */
export interface LockFile<Content> {
  read(): Content
  /** Resolves once the change is on disk; a change that fails leaves everything as it was. */
  update(change: (content: Content) => Content): Promise<void>
}

/**
 * Opens the file; one that is not there yet is `initial`. Throws where it cannot be understood: to begin
 * anew would accept whatever is found.
 */
export async function openLockFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  initial: z.output<Schema>,
): Promise<LockFile<z.output<Schema>>> {
  const text = await readText(path)
  let content = text === undefined ? initial : parse(path, text, schema)
  let last: Promise<unknown> = Promise.resolve()

  return {
    read: () => content,
    update(change) {
      const next = last.then(async () => {
        const changed = change(content)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(`${path}.new`, `${JSON.stringify(changed, null, 2)}\n`, { flush: true })
        await rename(`${path}.new`, path)
        content = changed
      })
      // The next change waits for this one and does not care how it ended.
      last = next.catch(() => undefined)
      return next
    },
  }
}

function parse<Schema extends z.ZodType>(
  path: string,
  text: string,
  schema: Schema,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new Error(`${path} is not a lock file of this version; mend it or remove it`, {
      cause: error,
    })
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
