import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import {
  type McpServer,
  ProtocolError,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { FIRST_PIECE, invalidParams, MAX_PIECE, uriOf, withMore } from './corpus-tools.ts'
import type { Documents } from './services.ts'

/** Documents per page of the list. */
const PAGE = 200
/**
 * Pages of the list, newest documents first; older documents are found by the tools, and can still be read by their
 * URI. SDK clients read 64 pages at most, and fail if there are more.
 */
const MAX_PAGES = 50

export const DOCUMENT_TEMPLATE = 'document:///{id}'

/** Does what a request other than a call of a tool asks, and reports failures only as far as the client may know them. */
export async function guarded<Result>(
  log: Pick<Log, 'error'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof AppError) {
      throw error.code === 'invalid_request' ? invalidParams(error.message) : error
    }
    log.error({ err: error }, 'an MCP request failed')
    throw new Error('The request failed; see the server log')
  }
}

/** Adds the newest documents as listed resources, and every document as a resource by its URI. */
export function addDocumentResources(
  server: McpServer,
  documents: Documents,
  log: Pick<Log, 'error'>,
): void {
  const about = {
    title: 'Document',
    description: `The first ${MAX_PIECE} characters of a document’s text. Use \`get_document\` to read more.`,
    mimeType: 'text/plain',
  }
  // No `list` in the template, since that would have no pages.
  const template = new ResourceTemplate(DOCUMENT_TEMPLATE, { list: undefined })
  server.registerResource('document', template, about, (uri, { id }, { mcpReq }) =>
    guarded(log, async () => {
      const { data: documentId } = DocumentId.safeParse(id)
      if (documentId === undefined) throw new ResourceNotFoundError(uri.href)
      const text = await readText(documents, { id: documentId, uri: uri.href }, mcpReq.signal)
      return { contents: [{ uri: uri.href, mimeType: 'text/plain', text }] }
    }),
  )
  server.server.setRequestHandler('resources/list', ({ params }, { mcpReq }) =>
    guarded(log, () => listPage(documents, params?.cursor, mcpReq.signal)),
  )
}

async function readText(
  documents: Documents,
  { id, uri }: { id: string; uri: string },
  signal: AbortSignal,
): Promise<string> {
  try {
    return withMore(await documents.text(id, FIRST_PIECE, signal))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'document_not_found') throw error
    throw new ResourceNotFoundError(uri, error.message)
  }
}

/**
 * Lists one page. A cursor is a page number and the store's cursor; any other throws a ProtocolError (invalid params).
 */
async function listPage(documents: Documents, cursor: string | undefined, signal: AbortSignal) {
  const [, number = '1', storeCursor] = /^(\d{1,2})\.(.+)$/s.exec(cursor ?? '') ?? []
  if (cursor !== undefined && storeCursor === undefined) {
    throw invalidParams('The cursor is not valid for this list')
  }
  const query = { limit: PAGE, status: 'ready' as const, cursor: storeCursor }
  const { nextCursor, ...page } = await documents.list(query, signal)
  const resources = page.documents.map(({ id, title }) => {
    const uri = uriOf(id)
    return { uri, name: title || id, ...(title && { title }), mimeType: 'text/plain' }
  })
  const pageNumber = Number(number)
  const hasMore = nextCursor !== undefined && pageNumber < MAX_PAGES
  return { resources, ...(hasMore && { nextCursor: `${pageNumber + 1}.${nextCursor}` }) }
}
