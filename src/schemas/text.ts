import { z } from 'zod'

/**
 * Text as it can be stored anywhere: a lone surrogate becomes U+FFFD and a NUL becomes a space. Each
 * replaces one code unit by one, so offsets into the text still hold.
 */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', ' ')
}

/** A string of at most `maximum` UTF-16 code units that is safe to store. */
export function boundedText(maximum: number) {
  return z.string().max(maximum).overwrite(toStorable)
}

/** The same, with something other than white space in it. */
export function filledText(maximum: number) {
  return boundedText(maximum).refine((text) => text.trim() !== '', {
    message: 'must not be empty',
  })
}
