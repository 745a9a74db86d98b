/** White space and what is not seen. */
const GAP = String.raw`[\s\p{Cf}]*`

/**
 * Escapes what would begin or end a tag of one of these names, in a text that a prompt marks as data with them. Looks at
 * each sign twice at most, however long a gap is.
 */
export function escapeTags(text: string, ...names: readonly string[]): string {
  const tag = new RegExp(`<(?=${GAP}(?:/${GAP})?(?:${names.join('|')}))`, 'giu')
  return text.replaceAll(tag, '&lt;')
}
