import type { Extracted } from './extracted.ts'
import type { ExtractionCode } from './extraction-error.ts'

/** What the reading process is told of a file: its beginning, its bytes in order, and then that these were all. */
export type ToReader =
  | { kind: 'begin'; name: string; mediaType: string; size: number }
  | { kind: 'piece'; bytes: Uint8Array }
  | { kind: 'end' }

/** What it answers, once it works and then to each file. */
export type FromReader =
  | { kind: 'ready' }
  | ({ kind: 'extracted' } & Extracted)
  | { kind: 'refused'; code: ExtractionCode; message: string }
