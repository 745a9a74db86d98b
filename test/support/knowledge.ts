import { DocumentList } from '@agent-server/schemas/document.ts'
import { type Hit, QueryResponse } from '@agent-server/schemas/query.ts'
import type { TestServer } from './server.ts'

/** The hits of a query. */
export async function search(
  { request }: TestServer,
  query: string,
  topK?: number,
): Promise<Hit[]> {
  const response = await request('/query', { body: { query, topK } })
  return QueryResponse.parse(await response.json()).hits
}

/** One page of the list; `parameters` begins with a question mark. */
export async function listDocuments(
  { request }: TestServer,
  parameters = '',
): Promise<DocumentList> {
  return DocumentList.parse(await (await request(`/documents${parameters}`)).json())
}

/** Deletes the first page of documents: what a test leaves to the next one on the same server is none. */
export async function deleteDocuments(server: TestServer): Promise<void> {
  const { documents } = await listDocuments(server, '?limit=100')
  for (const { id } of documents) await server.request(`/documents/${id}`, { method: 'DELETE' })
}

/** How many documents there are, for servers that hold at most a hundred. */
export async function countDocuments(server: TestServer): Promise<number> {
  const { documents, nextCursor } = await listDocuments(server, '?limit=100')
  if (nextCursor !== undefined) throw new Error('Too many documents to count')
  return documents.length
}
