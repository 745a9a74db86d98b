import { oneLine } from '../extracted.ts'

/** Codes in headers and footers of sheets (ECMA-376, 18.3.1.39): fonts, sizes, colours, and what differs from page to page. */
const CODES = /&(?:"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d{1,3}|[BIUSEXYPNDTFAZGOH])/g
/** Where the left, the middle and the right part begin. */
const PARTS = /&[LCR]/
/** `Page 1 of 2` without its numbers. */
const COUNTER = /^(?:page|seite|of|von|página|pagina|sida|side|de|di|av|\W)*$/i

/** A header or footer as one line, without what is only formatting or counts pages; empty if nothing else is left. */
export function furnitureText(coded: string): string {
  const parts = coded.replaceAll('&&', '\u0000').split(PARTS)
  return furnitureLine(parts.map((part) => part.replaceAll(CODES, ' ').replaceAll('\u0000', '&')))
}

export function furnitureLine(parts: readonly string[]): string {
  return parts
    .map(oneLine)
    .filter((part) => !COUNTER.test(part))
    .join('; ')
}
