/** Why a file has no text to index. All but the time are the file's own fault, and will be so again. */
export const EXTRACTION_CODES = [
  'empty_document',
  'unsupported_file',
  'encrypted_file',
  'damaged_file',
  'file_too_complex',
  'text_too_long',
  'extraction_timeout',
] as const

export type ExtractionCode = (typeof EXTRACTION_CODES)[number]

/** A file that cannot be read. The message is shown to its owner. */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError'
  readonly code: ExtractionCode

  constructor(code: ExtractionCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
