import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { startServer, type TestServer } from '../server.ts'
import { startFakeQdrant } from './fake-qdrant.ts'

export const OTTERS = { title: 'Otters', text: 'Otters hold hands while they sleep.' }

/** A server with its index in a Qdrant of its own. */
export async function startShared(more: Record<string, string> = {}, begin = true) {
  const qdrant = await startFakeQdrant()
  const environment = { QDRANT_URL: qdrant.url, QDRANT_TIMEOUT: '10', ...more }
  const server = await startServer(environment, { begin })
  return { qdrant, server, environment }
}

export async function readiness({ request }: TestServer) {
  const response = await request('/readiness')
  return { status: response.status, body: await response.json() }
}

export async function post({ request }: TestServer, body: object): Promise<string> {
  return DocumentCreated.parse(await (await request('/documents', { body })).json()).id
}

export async function textsBy({ request }: TestServer, filter: unknown): Promise<string[]> {
  const response = await request('/query', { body: { query: 'otters', filter } })
  return QueryResponse.parse(await response.json()).hits.map(({ text }) => text)
}
