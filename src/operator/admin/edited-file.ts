import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { readIfPresent, replaceFile } from '@agent-server/lib/files.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import { codeOf, explainPath } from '@agent-server/lib/system-error.ts'
import { writtenText } from '@agent-server/lib/text/written-text.ts'

export interface FileContent {
  /** Empty if there is no file. */
  text: string
  /** SHA-256 of the text, in hexadecimal digits. */
  digest: string
  found: boolean
}

/** Makes a change; `replace` writes the file. */
export type Edit<Result> = (
  content: FileContent,
  replace: (text: string) => Promise<FileContent>,
) => Promise<Result>

/** A file that people edit, too: it is replaced whole or not at all, and only by a caller who knows its content. */
export function openEditedFile(path: string) {
  const turn = createLimiter({ name: 'edited file', capacity: 1 })

  async function read(): Promise<FileContent> {
    const bytes = await readIfPresent(path).catch((cause: unknown) => {
      const why = explainPath(cause)
      throw why
        ? new AppError('not_writable', `The server cannot read it: ${why}`, { cause })
        : cause
    })
    const text = bytes ? writtenText(bytes) : ''
    return { text, digest: digestOf(text), found: bytes !== undefined }
  }

  return {
    read,
    /**
     * Lets `edit` replace the file; nobody else does meanwhile. Throws what `edit` throws, and AppError
     * `edit_conflict` if the digest is not `basedOn`, `not_writable` and `storage_full`; the file is as before then.
     */
    change<Result>(basedOn: string, edit: Edit<Result>, signal: AbortSignal): Promise<Result> {
      return turn.run(
        undefined,
        async () => {
          const before = await read()
          if (before.digest !== basedOn) {
            const message = `${path} has changed since the version that your changes are based on. Reload it.`
            throw new AppError('edit_conflict', message, { param: 'basedOn' })
          }
          try {
            return await edit(before, async (text) => {
              await replaceFile(path, text, NEW_FILE_MODE)
              return { text, digest: digestOf(text), found: true }
            })
          } catch (error) {
            throw explainFailure(path, error)
          }
        },
        signal,
      )
    },
  }
}

/** For a newly created file, since it may hold keys. */
const NEW_FILE_MODE = 0o600

/** SHA-256 of the text, in hexadecimal digits. */
export function digestOf(text: string): string {
  return hash('sha256', text)
}

const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENOENT', 'EEXIST', 'ENOTDIR']
const FULL = ['ENOSPC', 'EDQUOT']

function explainFailure(path: string, cause: unknown): unknown {
  const code = codeOf(cause) ?? ''
  if (FULL.includes(code)) return new AppError('storage_full', 'The disk is full', { cause })
  if (!NOT_WRITABLE.includes(code)) return cause
  return new AppError('not_writable', `The server cannot write ${path} (${code})`, { cause })
}
