const MESSAGES = {
  preparation_timeout: 'Splitting and analysing the document took too long',
  preparation_crashed: 'Splitting and analysing the document took too much memory',
} as const

export type PreparationErrorCode = keyof typeof MESSAGES

/** A document that the preparation does not survive. Its own fault as far as anyone can tell. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError'
  readonly code: PreparationErrorCode

  constructor(code: PreparationErrorCode, cause?: unknown) {
    super(MESSAGES[code], { cause })
    this.code = code
  }
}
