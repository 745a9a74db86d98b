/** A run of text on a page; `bottom` and `height` in points. */
export interface PdfItem {
  text: string
  bottom: number
  height: number
  endsLine: boolean
}

interface Line {
  text: string
  bottom: number
  height: number
}

/** Lines further apart than this many heights belong to different paragraphs. */
const PARAGRAPH_GAP = 1.9
/** Larger letters than most of the page has, by this factor, make a heading. */
const HEADING_FACTOR = 1.25
const LONGEST_HEADING = 120
/** A word that a line's end divides: letter, hyphen, small letter. */
const DIVIDED = /(\p{L})-\n(\p{Ll})/gu

/** The text of a page in paragraphs, lines in larger letters as headings. */
export function toPageText(items: readonly PdfItem[]): string {
  const lines = toLines(items)
  const usual = usualHeight(lines)
  let text = ''
  let before: Line | undefined
  for (const line of lines) {
    const isHeading = usual > 0 && line.height >= usual * HEADING_FACTOR && isTitle(line.text)
    const isApart = !before || isHeading || gapAbove(line, before) > PARAGRAPH_GAP
    text += `${before ? (isApart ? '\n\n' : '\n') : ''}${isHeading ? '## ' : ''}${line.text}`
    if (isHeading) text += '\n'
    before = line
  }
  return text.replaceAll(DIVIDED, '$1$2')
}

function toLines(items: readonly PdfItem[]): Line[] {
  const lines: Line[] = []
  let open: Line | undefined
  for (const { text, bottom, height, endsLine } of items) {
    open ??= { text: '', bottom, height: 0 }
    open.text += text
    open.height = Math.max(open.height, height)
    if (!endsLine) continue
    lines.push(open)
    open = undefined
  }
  if (open) lines.push(open)
  return lines.map((line) => ({ ...line, text: tidy(line.text) })).filter(({ text }) => text !== '')
}

function tidy(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll(/[^\S\n]+/g, ' ')
    .trim()
}

/** The height that most characters have. */
function usualHeight(lines: readonly Line[]): number {
  const characters = new Map<number, number>()
  for (const { text, height } of lines) {
    characters.set(height, (characters.get(height) ?? 0) + text.length)
  }
  let usual = 0
  for (const [height, count] of characters) {
    if (count > (characters.get(usual) ?? 0)) usual = height
  }
  return usual
}

function isTitle(text: string): boolean {
  return text.length <= LONGEST_HEADING && /\p{L}/u.test(text)
}

function gapAbove(line: Line, before: Line): number {
  const height = Math.max(line.height, before.height)
  return height > 0 ? Math.abs(before.bottom - line.bottom) / height : 0
}
