import { countUpTo, filledText } from '@agent-server/lib/fields.ts'
import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import { tellCorrections } from '@agent-server/lib/text/tell-corrections.ts'
import type { DocumentLookup, DocumentStore } from '@agent-server/stores'
import { z } from 'zod'
import type { Retrieval } from '../../retrieval/search.ts'
import { renderChunks, toHit, withoutStages } from '../citations/citations.ts'
import { defineTool, type Tool, ToolInputError } from './define-tool.ts'
import { findDocument } from './tool-files.ts'

const MAX_CHUNKS = 20

/** Searches the corpus again; its hits can be cited like the chunks retrieved for the question. */
export function semanticSearch(retrieval: Pick<Retrieval, 'search'>, defaultTopK: number) {
  return defineTool({
    name: 'semantic_search',
    title: 'Semantic search',
    description: 'Search the documents again, with other words.',
    input: z.object({
      query: filledText(2_000),
      topK: countUpTo(MAX_CHUNKS).default(Math.min(defaultTopK, MAX_CHUNKS)),
    }),
    async run(query, { citations, search, searched, meter }, signal) {
      const request = { ...query, ...search, explain: true, meter }
      const { hits, corrections } = await retrieval.search(request, signal)
      const numbered = citations.add(hits.map(withoutStages))
      searched?.(query.query, numbered, hits)
      return tellCorrections(renderChunks(numbered, citations.key), corrections)
    },
  })
}

/** Maximum UTF-16 code units per call. */
const MAX_PART = 12_000

interface Dependencies {
  store: Pick<DocumentStore, 'get'>
  lookup: Pick<DocumentLookup, 'readPart' | 'readText'>
}

/** Reads one document from beginning to end, part by part; each part can be cited like a passage. */
export function readDocument({ store, lookup }: Dependencies): Tool {
  return defineTool({
    name: 'read_document',
    title: 'Read a document',
    description: 'Read a document in order, part by part.',
    input: z.object({
      document: filledText(128).describe('Passage number or id.'),
      start: z.int().min(0).default(0),
      page: z.int().min(1).optional(),
      heading: filledText(200).optional(),
    }),
    async run({ document: name, page, heading, start: first }, context, signal) {
      const document = await findDocument(store, name, context, 'document')
      const { id, servedRevision } = document
      const { citations, visibility } = context
      const start =
        page === undefined && heading === undefined
          ? first
          : startOf((await lookup.readText(visibility, id, signal)) ?? '', { page, heading, first })
      const range = { documentId: id, start, end: start + MAX_PART }
      const part = await lookup.readPart(visibility, range, signal)
      const { text, length } = part ?? { text: '', length: 0 }
      const end = start + text.length
      if (text === '') return `The document has ${length} characters: nothing is at ${start}.`
      const source = { id: `${id}-${servedRevision}-text-${start}`, text, start, end }
      const rest = end < length ? `Read on with start ${end}.` : 'This is its end.'
      const shown = renderChunks(citations.add([toHit(document, source)]), citations.key)
      return `${shown}\nCharacters ${start} to ${end} of ${length}. ${rest}`
    },
  })
}

interface Place {
  page?: number | undefined
  heading?: string | undefined
  first: number
}

function startOf(text: string, { page, heading, first }: Place): number {
  const from = page === undefined ? first : startOfPage(text, page)
  return heading === undefined ? from : startOfHeading(text, heading, from)
}

/** Throws `ToolInputError` if there is no such page. */
function startOfPage(text: string, page: number): number {
  let start = 0
  for (let at = 1; at < page; at++) {
    const end = text.indexOf(PAGE_BREAK, start)
    if (end === -1) throw new ToolInputError(`page: the document has ${at} pages`)
    start = end + PAGE_BREAK.length
  }
  return start
}

/** Where the first heading with these words begins, at or after `from`. Throws `ToolInputError` if there is none. */
function startOfHeading(text: string, words: string, from: number): number {
  const lowerCase = words.toLowerCase()
  for (const match of text.slice(from).matchAll(/^#{1,6} .*/gm)) {
    if (match[0].toLowerCase().includes(lowerCase)) return from + match.index
  }
  throw new ToolInputError('heading: the document has no such heading there')
}
