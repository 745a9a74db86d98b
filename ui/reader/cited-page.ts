import type { Chunk } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import type { Place, PlaceInDocument } from './document-text.tsx'
import type { Pdf } from './pdf.ts'

/** Chunks that are read to find the page of a place. */
const MAX_CHUNKS = 5_000
/** Length of the text at a place, in UTF-16 code units; passages are much shorter. */
const MAX_TEXT = 20_000
/** The texts searched for on the pages of a passage without quotes: roughly sentences. */
const PARTS = /(?<=[.!?])\s+|\n+/
/** Pages of one passage that are searched for its sentences. */
const MAX_PAGES = 10

/** The page at which a PDF opens, and the marked texts. */
export interface CitedPage {
  first: number
  texts: readonly string[]
}

/** The page on which the quotes stand, or the first one of the passage. */
export async function findCitedPage(pdf: Pdf, shownPlace: PlaceInDocument): Promise<CitedPage> {
  const { place, quotes = [], cited } = shownPlace
  if (place.end === 0) return { first: 1, texts: [] }
  const { page = 1, pageEnd = page } = place.page === undefined ? await pagesAt(place) : place
  const passage = cited ?? (await textAt(place))
  const texts = quotes.length > 0 ? quotes : passage.split(PARTS)
  for (let at = page; at <= Math.min(pageEnd, page + MAX_PAGES, pdf.pages); at++) {
    if (await pdf.has(at, texts)) return { first: at, texts }
  }
  return { first: Math.min(page, pdf.pages), texts }
}

function textAt({ documentId, start, end }: Place): Promise<string> {
  return client.documents.text(documentId, { start, end: Math.min(end, start + MAX_TEXT) })
}

/** The pages of the chunk at a place, of which the address of a document does not tell. */
async function pagesAt({ documentId, start }: Place): Promise<Partial<Chunk>> {
  let count = 0
  for await (const chunk of client.documents.chunks(documentId)) {
    count += 1
    if (chunk.end > start) return chunk
    if (count === MAX_CHUNKS) break
  }
  return {}
}
