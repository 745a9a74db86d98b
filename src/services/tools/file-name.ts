const MOST_CHARACTERS = 60

/** The beginning of a file name from words; the store makes the rest of it safe. */
export function safeFileName(words: string): string {
  const plain = words.normalize('NFC').replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  return (
    [...plain]
      .slice(0, MOST_CHARACTERS)
      .join('')
      .replaceAll(/^-+|-+$/g, '') || 'file'
  )
}
