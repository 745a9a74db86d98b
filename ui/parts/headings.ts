import type { Citation, Hit } from '../../packages/client/src/agent-server.ts'

const HEADING = /^#{1,6} +(.+?)(?: +#+)?$/gm
/** Lines in it are no headings. */
const CODE = /^(```|~~~)[\s\S]*?(?:^\1|$(?![\s\S]))/gm

/** The heading of the part of a chunk in which a quote stands. */
export function headingAbove(
  { heading, text, start }: Pick<Hit, 'heading' | 'text' | 'start'>,
  quote: Citation['quotes'][number],
): string | undefined {
  const before = quote.start === undefined ? '' : text.slice(0, quote.start - start)
  return headingsIn(before).at(-1) ?? heading
}

/** The headings in a text, in their order. */
export const headingsIn = (text: string): string[] =>
  Array.from(text.replaceAll(CODE, '').matchAll(HEADING), ([, words = '']) => words)
