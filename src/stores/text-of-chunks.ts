import type { NewChunk } from './document-store.ts'

/**
 * The text that chunks were cut from, in their order. Blanks between them, which no chunk holds, become line
 * feeds: one code unit for another, so that offsets into the text still hold.
 */
export function textOfChunks(chunks: Iterable<Pick<NewChunk, 'start' | 'end' | 'text'>>): string {
  const parts: string[] = []
  let end = 0
  for (const chunk of chunks) {
    if (chunk.start > end) parts.push('\n'.repeat(chunk.start - end))
    parts.push(chunk.text.slice(Math.max(0, end - chunk.start)))
    end = Math.max(end, chunk.end)
  }
  return parts.join('')
}
