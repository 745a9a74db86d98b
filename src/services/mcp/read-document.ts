import type { Documents } from '../ingestion/create-documents.ts'

/** UTF-16 code units in one answer, but for the last chunk of it. */
const MAXIMUM_PIECE = 40_000
const CHUNKS_PER_PAGE = 50

/** A piece of a document's text, put together from its chunks. Throws `document_not_found`. */
export async function readDocument(
  documents: Pick<Documents, 'get' | 'chunks'>,
  id: string,
  cursor: string | undefined,
): Promise<string> {
  const { title, url, status } = await documents.get(id)
  const head = [title, url, `document ${id}`].filter(Boolean).join(', ')
  let text = ''
  let reached = 0
  let next: string | undefined = cursor
  do {
    const page = await documents.chunks(id, {
      limit: CHUNKS_PER_PAGE,
      ...(next && { cursor: next }),
    })
    for (const chunk of page.chunks) {
      // Neighbours may overlap, and what stands between two is white space.
      text +=
        chunk.start >= reached
          ? `${text && '\n'}${chunk.text}`
          : chunk.text.slice(reached - chunk.start)
      reached = Math.max(reached, chunk.end)
    }
    next = page.nextCursor
  } while (next !== undefined && text.length < MAXIMUM_PIECE)
  if (text === '') return `${head}\n[no text yet: the document is ${status}]`
  return `${head}\n\n${text}${next === undefined ? '' : `\n[more: read on with cursor ${next}]`}`
}
