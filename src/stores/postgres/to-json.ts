import type { StoredFile } from '../file-store.ts'

/** A file's column; what PostgreSQL's JSON cannot hold is left out of the name. */
export function fileToJson(file: StoredFile | undefined): string | undefined {
  if (!file) return undefined
  const { name, mediaType, size } = file
  const plain = name.replaceAll('\0', ' ').toWellFormed()
  return JSON.stringify({ name: plain, mediaType, size } satisfies StoredFile)
}
