/**
 * Roughly what a byte-pair vocabulary makes of one UTF-16 code unit: four Latin letters, nearly three Greek
 * or Cyrillic ones, two of an Indic or Thai script, or one ideograph to a token; two tokens for an emoji.
 * A real tokenizer takes seconds on a hundred thousand equal letters; this one is linear. All are multiples
 * of an eighth, so that sums are exact.
 */
export function tokensOf(code: number): number {
  if (code < 0x300) return 0.25
  if (code < 0x900) return 0.375
  return code < 0x2e80 ? 0.5 : 1
}

/** Estimated tokens of `text` between two offsets, in time linear in their distance. */
export function estimateTokens(text: string, start = 0, end = text.length): number {
  let tokens = 0
  for (let index = start; index < end; index++) tokens += tokensOf(text.charCodeAt(index))
  return tokens
}
