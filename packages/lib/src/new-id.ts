import { randomUUID } from 'node:crypto'

/** An unguessable identifier. */
export function newId(word: string): string {
  return `${word}_${randomUUID().replaceAll('-', '')}`
}
