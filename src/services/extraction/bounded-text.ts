import { MOST_CHARACTERS } from './extracted.ts'
import { ExtractionError } from './extraction-error.ts'

export interface BoundedText {
  /** Throws `text_too_long` where it would be. */
  add(text: string): void
  readonly length: number
  toString(): string
}

/** Gathers a text that can only become so long. */
export function createBoundedText(most = MOST_CHARACTERS): BoundedText {
  const parts: string[] = []
  let length = 0
  return {
    add(text) {
      length += text.length
      if (length > most) throw tooLong()
      parts.push(text)
    },
    get length() {
      return length
    },
    toString: () => parts.join(''),
  }
}

export function tooLong(): ExtractionError {
  const millions = MOST_CHARACTERS / 1_000_000
  return new ExtractionError(
    'text_too_long',
    `The file holds more than ${millions} million characters of text: send it in parts`,
  )
}
