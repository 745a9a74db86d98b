import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { optionalText, type Row, text } from './query.ts'

/** Damaged ones that are named. */
const MAX_NAMED = 20

const digestOf = (content: string) => hash('sha256', content)

/** What is stored of a text, with the digest that shows whether it changed on the disk. */
export const storedText = (content: string) => ({ text: content, digest: digestOf(content) })

/** Whether a row of `contents` is as it was stored; one that is older than the digests counts as such. */
export function isSound(row: Row): boolean {
  const digest = optionalText(row, 'digest')
  return digest === undefined || digest === digestOf(text(row, 'text'))
}

/** The text of a row of `contents`. Throws `store_unavailable` if it changed on the disk. */
export function soundText(row: Row, document: string): string {
  if (isSound(row)) return text(row, 'text')
  const message = `The stored text of the document "${document}" is not as it was stored (damaged on the disk): restore the database from a backup, or send the document again`
  throw new AppError('store_unavailable', message)
}

/** The error for documents whose files or texts changed on the disk. */
export function damagedDocuments(ids: readonly string[]): AppError {
  return new AppError(
    'store_unavailable',
    `The files or texts of these documents are not as they were stored: ${named(ids)}. Send them again, delete them, or restore the database: docs/guides/operations.md says how, under “A damaged database”.`,
  )
}

/** The first ids, and how many more there are. */
export function named(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  return `${ids.slice(0, MAX_NAMED).join(', ')}${more}`
}
