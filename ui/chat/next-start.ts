/** How far the beginning of a syntax is looked for; what follows is looked at from there. */
const WINDOW = 1_000

/**
 * Where a syntax may begin within a line of text. The parser asks again for each piece of a text, so that a look at all
 * of what follows would take time that is quadratic. In a long text the answer is a space, where no syntax is cut.
 */
export function nextInline(text: string, placeIn: (part: string) => number): number | undefined {
  const part = text.slice(0, WINDOW)
  const place = placeIn(part)
  if (place !== -1) return place
  const space = text.length > WINDOW ? part.lastIndexOf(' ') : -1
  return space > 0 ? space : undefined
}

/** Where a block may begin that interrupts the paragraph in which the text begins. */
export function nextBlock(text: string, placeIn: (part: string) => number): number | undefined {
  const end = text.slice(0, MAX_PARAGRAPH).search(/\n[ \t]*\n/)
  const place = placeIn(text.slice(0, end === -1 ? MAX_PARAGRAPH : end + 1))
  return place === -1 ? undefined : place
}

/** Length of a paragraph, in UTF-16 code units: what would interrupt a longer one is part of it. */
const MAX_PARAGRAPH = 20_000
