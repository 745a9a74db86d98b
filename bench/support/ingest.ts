import { setTimeout as pause } from 'node:timers/promises'
import { AgentServer } from '../../packages/client/src/agent-server.ts'
import type { CorpusDocument } from './corpus.ts'
import { post, prepare } from './http-client.ts'
import { KEY } from './server-process.ts'

/** Requests in flight at once. */
const CONNECTIONS = 16
const QUEUE_FULL_MS = 100
const POLL_MS = 20

/** Sends every document over HTTP and resolves once all are ready. Throws if one fails. */
export async function ingest(url: string, documents: Iterable<CorpusDocument>): Promise<void> {
  const waiting = documents[Symbol.iterator]()
  const sendAll = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await send(url, next.value)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendAll))
  await untilIdle(url)
}

async function send(url: string, document: CorpusDocument): Promise<void> {
  const prepared = prepare(`${url}/documents`, KEY, document)
  for (;;) {
    const { status } = await post(prepared)
    if (status === 202) return
    if (status !== 429) throw new Error(`POST /documents answered ${status}`)
    await pause(QUEUE_FULL_MS)
  }
}

/** Resolves once no document waits any more. Throws if one has failed. */
export async function untilIdle(url: string): Promise<void> {
  for (;;) {
    const { pending, processing, failed } = await countDocuments(url)
    if (failed > 0) throw new Error(`${failed} documents failed`)
    if (pending + processing === 0) return
    await pause(POLL_MS)
  }
}

async function countDocuments(url: string) {
  const { documents } = await clientOf(url).admin.readiness()
  if (!documents) throw new Error('The server is not ready')
  return documents
}

/** The number of chunks that the server holds, from its metrics. */
export function countChunks(url: string): Promise<number> {
  return readMetric(url, 'agent_server_chunks')
}

/** Resolves once every chunk has its vector; at once for a server without an embedding model. */
export async function untilEmbedded(url: string): Promise<void> {
  while ((await readMetric(url, 'agent_server_chunks_without_vector')) > 0) await pause(POLL_MS)
}

async function readMetric(url: string, name: string): Promise<number> {
  const metrics = await clientOf(url).admin.metrics()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1])
}

function clientOf(url: string): AgentServer {
  return new AgentServer({ baseURL: url, apiKey: KEY })
}
