import { extname } from 'node:path'
import { lookup } from 'mime-types'

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
