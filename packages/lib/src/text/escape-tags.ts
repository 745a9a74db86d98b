/** Escapes what would begin or end a tag of one of these names, in a text that a prompt marks as data with them. */
export function escapeTags(text: string, ...names: readonly string[]): string {
  const tag = new RegExp(String.raw`<(?=\s*\/?\s*(?:${names.join('|')}))`, 'gi')
  return text.replaceAll(tag, '&lt;')
}
