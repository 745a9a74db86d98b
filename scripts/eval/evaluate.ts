import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type Entry, type Query, readCorpus, readQueries } from './collection.ts'
import { DEPTH, mean, measure, percentile } from './measures.ts'

/** Chunks asked for per query: several may belong to one document, and documents are what is judged. */
const TOP_K = 50
const REQUESTS_AT_ONCE = 16
const POLL_MS = 100
const TOO_MANY = 429

export interface EvaluationOptions {
  folder: string
  url: string
  key: string
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
  /** Milliseconds of a query over HTTP, one after another. */
  latency: { p50: number; p95: number }
}

const Created = z.object({ id: z.string() })
const Documents = z.object({ documents: z.array(z.object({ id: z.string() })) })
const Answer = z.object({ hits: z.array(z.object({ documentId: z.string() })) })

/** Ingests a judged collection through the HTTP API, asks its queries, and measures the answers. */
export async function evaluate(options: EvaluationOptions): Promise<Evaluation> {
  const call = caller(options)
  const ids = await ingest(options, call)
  await settle(call, options.progress)
  const failed = Documents.parse(await (await call('/documents?status=failed&limit=100')).json())
  const queries = await readQueries(options.folder)
  const results = []
  for (const query of queries) {
    results.push(await ask(query, ids, call, options.graded))
    options.progress(`${results.length} of ${queries.length} queries asked`)
  }
  const latencies = results.map(({ milliseconds }) => milliseconds)
  return {
    documents: ids.size,
    failed: failed.documents.length,
    queries: queries.length,
    ndcg: mean(results.map(({ ndcg }) => ndcg)),
    recall: mean(results.map(({ recall }) => recall)),
    mrr: mean(results.map(({ mrr }) => mrr)),
    latency: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
  }
}

type Call = (path: string, body?: unknown) => Promise<Response>

function caller({ url, key }: EvaluationOptions): Call {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = (path: string, body: unknown) => {
    const content = body !== undefined && { method: 'POST', body: JSON.stringify(body) }
    return fetch(new URL(path, url), { headers, ...content })
  }
  return async (path, body) => {
    let response = await send(path, body)
    while (response.status === TOO_MANY) {
      await delay(Number(response.headers.get('retry-after') ?? 1) * 1_000)
      response = await send(path, body)
    }
    if (response.ok) return response
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
}

/** Answers the collection's own id for each id that the server gave. */
async function ingest({ folder, progress }: EvaluationOptions, call: Call) {
  const ids = new Map<string, string>()
  const post = async ({ _id, title, text }: Entry) => {
    // A document that is only a title has its title for a text.
    const body = text.trim() === '' ? { text: title } : { title, text }
    const { id } = Created.parse(await (await call('/documents', body)).json())
    ids.set(id, _id)
    progress(`${ids.size} documents sent`)
  }
  const corpus = readCorpus(folder)
  const lane = async () => {
    for await (const entry of corpus) await post(entry)
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, lane))
  return ids
}

async function settle(call: Call, progress: (done: string) => void): Promise<void> {
  for (;;) {
    const open = await Promise.all(
      ['pending', 'processing'].map(async (status) =>
        Documents.parse(await (await call(`/documents?status=${status}&limit=100`)).json()),
      ),
    )
    const count = open.reduce((sum, { documents }) => sum + documents.length, 0)
    if (count === 0) return
    progress(`${count === 200 ? 'more than 100' : count} documents not ready yet`)
    await delay(POLL_MS)
  }
}

async function ask(query: Query, ids: Map<string, string>, call: Call, graded: boolean) {
  const started = performance.now()
  const response = await call('/query', { query: query.text, topK: TOP_K })
  const { hits } = Answer.parse(await response.json())
  const milliseconds = performance.now() - started
  const ranking = [...new Set(hits.map(({ documentId }) => ids.get(documentId) ?? documentId))]
  return { milliseconds, ...measure(ranking.slice(0, DEPTH), { relevant: query.relevant, graded }) }
}
