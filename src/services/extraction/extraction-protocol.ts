import type { ExtractionCode } from './extraction-error.ts'
import type { PackedText } from './packed-text.ts'

/** What the reading process is told of a file: its beginning, its bytes in order, and then that these were all. */
export type ToReader =
  | { kind: 'begin'; name: string; mediaType: string; size: number }
  | { kind: 'piece'; bytes: Uint8Array }
  | { kind: 'end' }

/** What it answers, once it works and then to each file: its text in order, and that this was all of it, or why there is none. */
export type FromReader =
  | { kind: 'ready' }
  | { kind: 'text'; text: PackedText }
  | { kind: 'extracted'; pageStarts: number[] | undefined }
  | { kind: 'refused'; code: ExtractionCode; message: string }
