import type { Hit } from '../../client/src/agent-server.ts'

type Place = Pick<Hit, 'heading' | 'page' | 'pageEnd' | 'sheet' | 'row'>

/** Where in its document a chunk stands, in words. */
export function placeOf({ heading, page, pageEnd, sheet, row }: Place): string {
  const facts = [
    heading,
    page !== undefined &&
      (pageEnd && pageEnd !== page ? `pages ${page}–${pageEnd}` : `page ${page}`),
    sheet && `sheet ${sheet}`,
    row !== undefined && `row ${row}`,
  ]
  return facts.filter(Boolean).join(' · ')
}

/** The text of a chunk, without the characters that part its pages. */
export function ChunkText({ text, isExcerpt = false }: { text: string; isExcerpt?: boolean }) {
  return (
    <p class={`chunk-text ${isExcerpt ? 'excerpt' : ''}`} dir="auto">
      {text.replaceAll(/\s*\f\s*/g, '\n\n')}
    </p>
  )
}

export function ChunkFacts({ chunk }: { chunk: Place }) {
  const facts = placeOf(chunk)
  return facts === '' ? null : <p class="hint">{facts}</p>
}
