import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { type EmbedderProcess, startEmbedder } from './support/embedder-process.ts'
import { countChunks, ingest } from './support/ingest.ts'
import { passagesOf, questionOf } from './support/passages.ts'
import { CROWDED_CALLS, measureSearchers, type Searcher } from './support/searchers.ts'
import { freePort, KEY, startServer } from './support/server-process.ts'

const TOP_K = 10
const BATCH = 500
const START_MS = 60_000

/** This server next to Chroma's, both over HTTP, with the same passages and the same vectors. */
export async function peers(bench: Bench): Promise<Findings> {
  const size = bench.sizes.at(-1) ?? 0
  const passages = passagesOf(bench, size)
  const questions = passages.slice(0, CROWDED_CALLS).map(questionOf)
  const embedder = await startEmbedder()
  const ours = await startOurs(bench, embedder, passages)
  const chroma = await startChroma(bench, embedder, passages)
  const searchers: Record<string, Searcher> = {
    'ours, words and vectors': { ask: ours.asking('hybrid'), pid: ours.pid },
    'ours, vectors': { ask: ours.asking('dense'), pid: ours.pid },
    'ours, words': { ask: ours.asking('lexical'), pid: ours.pid },
    ...(chroma && { 'Chroma, vectors': chroma }),
  }
  const rows = await measureSearchers(searchers, questions, bench)
  await ours.stop()
  await chroma?.stop()
  await embedder.stop()
  return {
    title: `Beside others, ${passages.length} passages, top ${TOP_K}`,
    rows,
    notes: [
      chroma
        ? 'Chroma searches by vectors alone and is given that of the question by the load generator, which asks the embedder for it; this server asks it itself.'
        : 'Chroma is not installed: `pip install chromadb`, then `--chroma <path of the command chroma>`.',
      'Vectors of 384 numbers from a server of seeded ones in another process. Its work is in the times, and not in the processor time, which is that of the server asked.',
    ],
  }
}

async function startOurs(
  { directory, progress }: Bench,
  embedder: EmbedderProcess,
  passages: CorpusDocument[],
) {
  const place = join(directory, 'ours')
  await mkdir(place, { recursive: true })
  const server = await startServer({ directory: place, environment: embedder.environment })
  progress(`${passages.length} passages go to this server`)
  await ingest(server.url, passages)
  const chunks = await countChunks(server.url)
  if (chunks !== passages.length) throw new Error(`${passages.length} passages became ${chunks}`)
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  return {
    pid: server.pid,
    asking: (mode: string) => (query: string) =>
      post(`${server.url}/query`, { query, topK: TOP_K, mode }, headers),
    stop: () => server.stop(),
  }
}

async function startChroma(
  { chroma, directory, progress }: Bench,
  embedder: EmbedderProcess,
  passages: readonly CorpusDocument[],
) {
  if (chroma === undefined) return undefined
  const port = await freePort()
  const parameters = ['run', '--path', join(directory, 'chroma'), '--port', String(port)]
  const child = spawn(chroma, parameters, { stdio: 'ignore', cwd: directory })
  const database = `http://127.0.0.1:${port}/api/v2/tenants/default_tenant/databases/default_database`
  const deadline = Date.now() + START_MS
  while (!(await fetch(`http://127.0.0.1:${port}/api/v2/heartbeat`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline) throw new Error('Chroma did not start')
    await pause(100)
  }
  const configuration = { hnsw: { space: 'cosine' } }
  const made = await post(`${database}/collections`, { name: 'passages', configuration })
  const collection = `${database}/collections/${made.id}`
  for (let at = 0; at < passages.length; at += BATCH) {
    progress(`${at} of ${passages.length} passages went to Chroma`)
    const batch = passages.slice(at, at + BATCH)
    const texts = batch.map(({ title, text }) => `${title}\n${text}`)
    const ids = batch.map((_, place) => String(at + place))
    const embeddings = await embedder.embed(texts)
    await post(`${collection}/add`, { ids, embeddings, documents: texts })
  }
  return {
    pid: child.pid ?? 0,
    async ask(question: string) {
      const query_embeddings = await embedder.embed([question])
      const include = ['documents', 'distances']
      await post(`${collection}/query`, { query_embeddings, n_results: TOP_K, include })
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function post(url: string, body: object, headers = { 'content-type': 'application/json' }) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return JSON.parse(await response.text())
}
