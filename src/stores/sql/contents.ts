import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { optionalText, type Row, text } from './query.ts'

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
