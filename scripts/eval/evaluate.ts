import { setTimeout as delay } from 'node:timers/promises'
import { AgentServer } from '../../client/src/agent-server.ts'
import type { SearchMode } from '../../src/schemas/query.ts'
import {
  DEPTH,
  type JudgedQuery,
  mean,
  measure,
  percentile,
  TOP_K,
} from '../../ui/search/evaluation.ts'
import { type Entry, readCorpus, readQueries } from './collection.ts'

const REQUESTS_AT_ONCE = 16
/** Bounds the wait, since the server keeps retrying a broken embedding model forever. */
const MAX_STANDSTILL_MS = 120_000
const POLL_MS = 100
/** A full queue is waited for, however large the collection is. */
const MAX_RETRIES = 10_000

export interface EvaluationOptions {
  folder: string
  url: string
  key: string
  mode: SearchMode | undefined
  graded: boolean
  progress: (done: string) => void
}

export interface Evaluation {
  documents: number
  failed: number
  queries: number
  ndcg: number
  recall: number
  mrr: number
  /** Milliseconds per query over HTTP, one query at a time. */
  latency: { p50: number; p95: number }
}

/** Ingests a judged collection through the HTTP API, asks its queries, and measures the answers. */
export async function evaluate(options: EvaluationOptions): Promise<Evaluation> {
  const client = new AgentServer({
    baseURL: options.url,
    apiKey: options.key,
    maxRetries: MAX_RETRIES,
  })
  const ids = await ingest(options, client)
  const failed = await settle(client, options.progress)
  const queries = await readQueries(options.folder)
  const results = []
  for (const query of queries) {
    results.push(await ask(query, ids, client, options))
    options.progress(`${results.length} of ${queries.length} queries asked`)
  }
  const latencies = results.map(({ milliseconds }) => milliseconds)
  return {
    documents: ids.size,
    failed,
    queries: queries.length,
    ndcg: mean(results.map(({ ndcg }) => ndcg)),
    recall: mean(results.map(({ recall }) => recall)),
    mrr: mean(results.map(({ mrr }) => mrr)),
    latency: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
  }
}

/** Returns the collection's own ID for each ID that the server assigned. */
async function ingest({ folder, progress }: EvaluationOptions, { documents }: AgentServer) {
  const ids = new Map<string, string>()
  const post = async ({ _id, title, text }: Entry) => {
    // For a document that consists only of a title, the title is the text.
    const body = text.trim() === '' ? { text: title ?? '' } : { text, ...(title && { title }) }
    const { id } = await documents.create(body)
    ids.set(id, _id)
    progress(`${ids.size} documents sent`)
  }
  const corpus = readCorpus(folder)
  const worker = async () => {
    for await (const entry of corpus) await post(entry)
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker))
  return ids
}

/**
 * Waits until every document can be found, also by meaning if there is an embedder; returns how many failed. Throws if
 * nothing becomes ready for two minutes.
 */
async function settle({ admin }: AgentServer, progress: (done: string) => void): Promise<number> {
  const goOn = createStandstill()
  for (;;) {
    const { documents, embeddings } = await admin.readiness()
    const { pending = 0, processing = 0, failed = 0 } = documents ?? {}
    const waiting = pending + processing
    if (documents && waiting === 0 && (embeddings?.state ?? 'done') === 'done') return failed
    const { missing = 0, reason } = embeddings ?? {}
    progress(`${waiting} documents not ready yet, ${missing} passages not embedded`)
    goOn(waiting + missing, reason ?? `${waiting} documents are not ready`)
    await delay(POLL_MS)
  }
}

/** Returns a function to tell how much is left; it throws `reason` if that has not decreased for two minutes. */
function createStandstill() {
  let [least, since] = [Number.POSITIVE_INFINITY, performance.now()]
  return (left: number, reason: string): void => {
    if (left < least) [least, since] = [left, performance.now()]
    if (performance.now() - since < MAX_STANDSTILL_MS) return
    throw new Error(`Nothing has become ready for two minutes: ${reason}`)
  }
}

async function ask(
  query: JudgedQuery,
  ids: Map<string, string>,
  client: AgentServer,
  { mode, graded }: Pick<EvaluationOptions, 'mode' | 'graded'>,
) {
  const started = performance.now()
  const { hits } = await client.query({ query: query.text, topK: TOP_K, ...(mode && { mode }) })
  const milliseconds = performance.now() - started
  const ranking = [...new Set(hits.map(({ documentId }) => ids.get(documentId) ?? documentId))]
  return { milliseconds, ...measure(ranking.slice(0, DEPTH), { relevant: query.relevant, graded }) }
}
