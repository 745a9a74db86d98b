import type { UrlCitation } from '../../schemas/openai/completion.ts'
import type { FileCitation } from '../../schemas/openai/response-object.ts'
import type { Hit } from '../../schemas/query.ts'
import { citationsIn } from '../agent/citation-check.ts'

/** For each mark in an answer the hit that it cites, and where the mark stands. */
function citedBy(text: string, hits: readonly Hit[], isJsonAsked: boolean) {
  return citationsIn(text, hits.length, isJsonAsked).flatMap(({ number, index }) => {
    const hit = hits[number - 1]
    return hit ? [{ hit, number, index }] : []
  })
}

/** The citations of an answer as the Responses protocol has them. */
export function toFileCitations(
  text: string,
  hits: readonly Hit[],
  isJsonAsked: boolean,
): FileCitation[] {
  return citedBy(text, hits, isJsonAsked).map(({ hit, number, index }) => {
    const { documentId: file_id, title, start, end, url } = hit
    const place = { index, number, start, end, ...(url !== undefined && { url }) }
    return { type: 'file_citation', file_id, filename: title || file_id, ...place }
  })
}

/** The citations of an answer as chat completions have them: of documents of the web, for no others have links. */
export function toUrlCitations(
  text: string,
  hits: readonly Hit[],
  isJsonAsked: boolean,
): UrlCitation[] {
  return citedBy(text, hits, isJsonAsked).flatMap(({ hit, number, index }) => {
    const { url = '', title } = hit
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return []
    const place = { start_index: index, end_index: index + `[${number}]`.length }
    return [{ type: 'url_citation', url_citation: { ...place, url, title: title || url } }]
  })
}
