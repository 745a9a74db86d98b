import { filledText } from '@agent-server/lib/fields.ts'
import { tellCorrections } from '@agent-server/lib/text/tell-corrections.ts'
import { InCollection, within } from '@agent-server/schemas/collection.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import { Filter, Metadata } from '@agent-server/schemas/metadata.ts'
import { type Hit, MinScore, QueryResponse, SearchMode, TopK } from '@agent-server/schemas/query.ts'
import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Corpus, Documents } from './services.ts'

export const MAX_QUESTION = 10_000
/** Maximum UTF-16 code units of document text in one answer. */
export const MAX_PIECE = 40_000
export const FIRST_PIECE = { start: 0, end: MAX_PIECE }
/** Chunks whose documents `search` returns. */
const MAX_SEARCHED = 20

export const READ_ONLY = { readOnlyHint: true, openWorldHint: false }

export const invalidParams = (message: string) =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message)

/** Fields that restrict which chunks answer a question. */
export const SCOPE_FIELDS = {
  topK: TopK.optional(),
  minScore: MinScore.optional(),
  mode: SearchMode.optional(),
  collection: InCollection.optional(),
  filter: Filter.optional(),
}

/** What a tool answers: as text for a reader, and as data for a program. */
export interface ToolAnswer {
  text: string
  structured: Record<string, unknown>
}

/** Does the work of a tool, and reports failures only as far as the client may know them. */
export type Guard = (work: () => Promise<ToolAnswer>) => Promise<{
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: true
}>

export const Source = z.object({
  id: z.string().describe('Identifier of the document.'),
  title: z.string(),
  url: z.string().describe('URL of the document, or the URI of its resource on this server.'),
})

const Piece = Source.extend({
  text: z.string(),
  start: z.int().describe('Start offset of the text in the document, in UTF-16 code units.'),
  characters: z.int().describe('Length of the whole document, in UTF-16 code units.'),
})
const SourceList = z.object({ results: z.array(Source) })
const Fetched = Source.extend({ text: z.string(), metadata: Metadata })

/** Adds the documents as tools, including the pair `search` and `fetch` that chat products expect. */
export function addCorpusTools(server: McpServer, corpus: Corpus, guarded: Guard): void {
  const { retrieval, documents } = corpus
  server.registerTool(
    'query',
    {
      title: 'Find passages',
      description: 'Returns the passages that best answer a question, with scores and offsets.',
      inputSchema: z.object({
        query: filledText(MAX_QUESTION),
        ...SCOPE_FIELDS,
        topK: TopK.default(5),
      }),
      outputSchema: QueryResponse.omit({ query: true }),
      annotations: READ_ONLY,
    },
    (query, { mcpReq }) =>
      guarded(async () => {
        const search = { ...query, filter: within(query) }
        const { hits, corrections, degraded } = await retrieval.search(search, mcpReq.signal)
        const found = hits.map(describeHit).join('\n\n') || 'Nothing was found.'
        const structured = {
          hits,
          ...(corrections.length > 0 && { corrections }),
          ...(degraded && { degraded }),
        }
        return { text: tellCorrections(found, corrections), structured }
      }),
  )
  server.registerTool(
    'get_document',
    {
      title: 'Read a document',
      description: 'Returns the text of a document. Long documents are returned in parts.',
      inputSchema: z.object({
        id: DocumentId,
        start: z.int().min(0).default(0).describe('Start offset, in UTF-16 code units.'),
      }),
      outputSchema: Piece,
      annotations: READ_ONLY,
    },
    (input, { mcpReq }) => guarded(() => readDocument(documents, input, mcpReq.signal)),
  )
  addSearchAndFetch(server, corpus, guarded)
}

/** In the form that ChatGPT's connectors and deep research expect: https://platform.openai.com/docs/mcp */
function addSearchAndFetch(
  server: McpServer,
  { retrieval, documents }: Corpus,
  guarded: Guard,
): void {
  const inJson = (structured: ToolAnswer['structured']): ToolAnswer => {
    return { text: JSON.stringify(structured), structured }
  }
  server.registerTool(
    'search',
    {
      title: 'Search documents',
      description: 'Returns the documents that best answer a question. Use `fetch` to read one.',
      inputSchema: z.object({ query: filledText(MAX_QUESTION) }),
      outputSchema: SourceList,
      annotations: READ_ONLY,
    },
    ({ query }, { mcpReq }) =>
      guarded(async () => {
        const { hits } = await retrieval.search({ query, topK: MAX_SEARCHED }, mcpReq.signal)
        const results = new Map(hits.map((hit) => [hit.documentId, toSource(hit)]))
        return inJson({ results: [...results.values()] })
      }),
  )
  server.registerTool(
    'fetch',
    {
      title: 'Fetch a document',
      description: `Returns the text of a document found by \`search\`, up to ${MAX_PIECE} characters.`,
      inputSchema: z.object({ id: DocumentId }),
      outputSchema: Fetched,
      annotations: READ_ONLY,
    },
    ({ id }, { mcpReq }) =>
      guarded(async () => {
        const { metadata = {} } = await documents.get(id)
        const { title, url, ...part } = await documents.text(id, FIRST_PIECE, mcpReq.signal)
        const source = toSource({ title, url, documentId: id })
        return inJson({ ...source, text: withMore(part), metadata })
      }),
  )
}

interface Origin {
  title?: string | undefined
  url?: string | undefined
  documentId: string
}

/** A document as a source, for readers. */
export function sourceOf({ title, url, documentId }: Origin): string {
  return [title, url, `document ${documentId}`].filter(Boolean).join(', ')
}

/** A document as a source, for programs. */
export function toSource({ title, url, documentId: id }: Origin): z.output<typeof Source> {
  return { id, title: title || id, url: url ?? uriOf(id) }
}

/** The URI of a document as a resource. */
export const uriOf = (id: string) => `document:///${encodeURIComponent(id)}`

function describeHit(hit: Hit, index: number): string {
  const place = `score ${hit.score.toFixed(3)}, characters ${hit.start} to ${hit.end}`
  return `[${index + 1}] ${sourceOf(hit)} (${place})\n${hit.text}`
}

/** A part of a text that begins at `start`, followed by where to read on if there is more. */
export function withMore({ text, length }: { text: string; length: number }, start = 0): string {
  const end = start + text.length
  return `${text}${end < length ? `\n[more: get_document reads on with start ${end}]` : ''}`
}

/** Reads part of a document's text from an offset, in the units of hits. Throws AppError `document_not_found`. */
export async function readDocument(
  documents: Pick<Documents, 'text'>,
  { id, start }: { id: string; start: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const range = { start, end: start + MAX_PIECE }
  const { title, url, text, length } = await documents.text(id, range, signal)
  const origin = { title, url, documentId: id }
  return {
    text: `${sourceOf(origin)}\n\n${withMore({ text, length }, start)}`,
    structured: { ...toSource(origin), text, start, characters: length },
  }
}
