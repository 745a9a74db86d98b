import { extname } from 'node:path'
import { extension as extensionOf, lookup } from 'mime-types'

/** Clients also send it if they do not know the type. */
export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/** Extensions that the registry lacks, or takes for a video. */
const MORE: ReadonlyMap<string, string> = new Map([
  ['.jsonl', 'application/jsonl'],
  ['.ndjson', 'application/x-ndjson'],
  ['.parquet', 'application/vnd.apache.parquet'],
  ['.ts', 'text/plain'],
])

/** The media type that a file's extension stands for. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name).toLowerCase()
  return MORE.get(extension) ?? (lookup(extension) || UNKNOWN_MEDIA_TYPE)
}

/** The name with the extension of the media type, unless it has one: a program opens a file by it. */
export function withExtension(name: string, mediaType: string): string {
  const extension = extname(name) === '' && extensionOf(mediaType)
  return extension ? `${name}.${extension}` : name
}
