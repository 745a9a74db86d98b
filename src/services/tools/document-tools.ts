import { z } from 'zod'
import { filledText } from '../../schemas/fields.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import type { DocumentLookup } from '../../stores/lookup.ts'
import { renderChunks, toHit } from '../agent/citations.ts'
import type { Retrieval } from '../retrieval/search.ts'
import { defineTool, type Tool } from './define-tool.ts'
import { findDocument } from './tool-files.ts'

const MAX_CHUNKS = 20

/** Searches the corpus again; its hits can be cited like the chunks retrieved for the question. */
export function semanticSearch(retrieval: Retrieval, defaultTopK: number) {
  return defineTool({
    name: 'semantic_search',
    title: 'Semantic search',
    description:
      'Search the documents again, with other words or for another part of the question. Returns numbered passages to cite.',
    input: z.object({
      query: filledText(2_000).describe('What to look for, in the words of the documents.'),
      topK: z
        .int()
        .min(1)
        .max(MAX_CHUNKS)
        .default(Math.min(defaultTopK, MAX_CHUNKS))
        .describe(`Passages, 1 to ${MAX_CHUNKS}.`),
    }),
    async run(query, { citations, filter, mode, searched }, signal) {
      const { hits } = await retrieval.search({ ...query, filter, mode }, signal)
      const numbered = citations.add(hits)
      searched?.(query.query, numbered)
      return renderChunks(numbered, citations.key)
    },
  })
}

/** Maximum UTF-16 code units per call. */
const MAX_PART = 12_000

interface Dependencies {
  store: Pick<DocumentStore, 'get'>
  lookup: Pick<DocumentLookup, 'readPart'>
}

/** Reads one document from beginning to end, part by part; each part can be cited like a passage. */
export function readDocument({ store, lookup }: Dependencies): Tool {
  return defineTool({
    name: 'read_document',
    title: 'Read a document',
    description: `Read one document as it stands rather than its best passages, ${MAX_PART} characters at a time: for a summary of it, or for what stands around a passage. Says where the next part begins.`,
    input: z.object({
      document: filledText(128).describe('The number of a passage of it, or its id.'),
      start: z.int().min(0).default(0).describe('Where to begin, in characters.'),
    }),
    async run({ document: name, start }, context, signal) {
      const document = await findDocument(store, name, context, 'document')
      const { id, servedRevision } = document
      const wanted = { documentId: id, start, end: start + MAX_PART }
      const { text, length } = (await lookup.readPart(wanted, signal)) ?? { text: '', length: 0 }
      const end = start + text.length
      if (text === '') return `The document has ${length} characters: nothing is at ${start}.`
      const { citations } = context
      const source = { id: `${id}-${servedRevision}-text-${start}`, text, start, end }
      const rest = end < length ? `Read on with start ${end}.` : 'This is its end.'
      const shown = renderChunks(citations.add([toHit(document, source)]), citations.key)
      return `${shown}\nCharacters ${start} to ${end} of ${length}. ${rest}`
    },
  })
}
