import type { Citation, Hit } from '../../packages/client/src/agent-server.ts'
import { headingAbove } from './headings.ts'

type Place = Pick<
  Hit,
  'text' | 'start' | 'heading' | 'page' | 'pageEnd' | 'sheet' | 'row' | 'pictureDescription'
>
type Quotes = Citation['quotes']

/** The position of a chunk in its document; or its quote, if that is at one place. */
export function placeOf(chunk: Place, quotes: Quotes = []): string {
  const { sheet, row, pictureDescription } = chunk
  const facts = [
    pictureDescription && 'a model’s description of a picture',
    headingOf(chunk, quotes),
    pagesOf(chunk, quotes),
    sheet && `sheet ${sheet}`,
    row !== undefined && `row ${row}`,
  ]
  return facts.filter(Boolean).join(' · ')
}

function headingOf(chunk: Place, quotes: Quotes): string | undefined {
  const { heading } = chunk
  if (heading === undefined || quotes.length === 0) return heading
  const above = quotes.map((quote) => headingAbove(chunk, quote))
  return new Set(above).size === 1 ? above[0] : undefined
}

function pagesOf({ page, pageEnd = page }: Place, quotes: Quotes): string {
  const cited = new Set(quotes.flatMap((quote) => quote.page ?? []))
  if (cited.size === 1) return `page ${[...cited][0]}`
  if (cited.size > 1) return `pages ${[...cited].toSorted((a, b) => a - b).join(', ')}`
  if (page === undefined) return ''
  return pageEnd === page ? `page ${page}` : `pages ${page}–${pageEnd}`
}

/** The text of a chunk, without the characters that part its pages. */
export function ChunkText({ text, isExcerpt = false }: { text: string; isExcerpt?: boolean }) {
  return (
    <p class={`chunk-text ${isExcerpt ? 'excerpt' : ''}`} dir="auto">
      {text.replaceAll(/\s*\f\s*/g, '\n\n')}
    </p>
  )
}

export function ChunkFacts({ chunk, quotes }: { chunk: Place; quotes?: Quotes }) {
  const facts = placeOf(chunk, quotes)
  return facts === '' ? null : <p class="hint">{facts}</p>
}
