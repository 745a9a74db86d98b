import { extname } from 'node:path'
import { lookup } from 'mime-types'

/** Also said by clients that do not know better. */
export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/** What the registry lacks, or takes for a video. */
const MORE: ReadonlyMap<string, string> = new Map([
  ['.jsonl', 'application/jsonl'],
  ['.ndjson', 'application/x-ndjson'],
  ['.parquet', 'application/vnd.apache.parquet'],
  ['.ts', 'text/plain'],
])

/** What a file's name says that it is. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name).toLowerCase()
  return MORE.get(extension) ?? (lookup(extension) || UNKNOWN_MEDIA_TYPE)
}
