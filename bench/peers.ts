import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { splitText } from '../src/services/ingestion/split/split-text.ts'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { type EmbedderProcess, startEmbedder } from './support/embedder-process.ts'
import { countChunks, ingest } from './support/ingest.ts'
import { interleave } from './support/interleave.ts'
import { freePort, KEY, residentBytes, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'
import { takeTurns, timed } from './support/take-turns.ts'

const CALLS = 200
/** In each round with many at once: so many that what a server has yet to compile counts for little. */
const CROWDED_CALLS = 1_000
const TOP_K = 10
const AT_ONCE = 16
const QUERY_WORDS = 6
const BATCH = 500
const START_MS = 60_000

/** What answers a question: by what it searches, and the process whose memory and work count. */
interface Searcher {
  ask(question: string): Promise<void>
  pid: number
}

/** This server beside Chroma's, each asked over HTTP, with the same passages and the same vectors. */
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
  const rows = await measure(searchers, questions, bench)
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

/** Each one chunk for us, since cutting it leaves it whole, and one record for a peer. */
function passagesOf({ corpus }: Bench, size: number): CorpusDocument[] {
  const passages: CorpusDocument[] = []
  for (const { title, text } of corpus.take(2 * size)) {
    for (const [place, { start, end }] of splitText(text).entries()) {
      const passage = text.slice(start, end).toWellFormed()
      if (splitText(passage).length !== 1) continue
      passages.push({ title: `${title} ${place}`, text: passage })
      if (passages.length === size) return passages
    }
  }
  return passages
}

function questionOf({ text }: CorpusDocument, seed: number): string {
  const words = text.match(/\p{L}[\p{L}\p{N}'-]+/gu) ?? ['documentation']
  const from = (seed * 7_919) % Math.max(words.length - QUERY_WORDS, 1)
  return words.slice(from, from + QUERY_WORDS).join(' ')
}

async function measure(
  searchers: Record<string, Searcher>,
  questions: readonly string[],
  { rounds, progress }: Bench,
): Promise<Findings['rows']> {
  const names = Object.keys(searchers)
  const question = (at: number) => questions[at % questions.length] ?? ''
  const calls = names.map((name) => [
    name,
    (at: number) => timed(async () => searchers[name]?.ask(question(at))),
  ])
  const alone = await takeTurns(Object.fromEntries(calls), { rounds, calls: CALLS }, progress)
  const floods = names.map((name) => [name, () => flood(searchers[name], questions)])
  const together = await interleave<string, Flood>(Object.fromEntries(floods), rounds, progress)
  return Promise.all(
    names.map(async (name) => ({
      server: name,
      'p50 ms': show(spreadOf(alone(name).map((times) => median(times)))),
      'p95 ms': round(percentile(alone(name).flat(), 0.95)),
      [`queries/s, ${AT_ONCE} at once`]: show(
        spreadOf(together(name).map(({ perSecond }) => perSecond)),
        0,
      ),
      'processor ms a query': round(median(together(name).map(({ work }) => work))),
      'MB of memory': round((await residentBytes(searchers[name]?.pid ?? 0)) / 2 ** 20, 0),
    })),
  )
}

interface Flood {
  perSecond: number
  /** Milliseconds of processor time of the server for a question. */
  work: number
}

async function flood(searcher: Searcher | undefined, questions: readonly string[]): Promise<Flood> {
  if (!searcher) throw new Error('There is nobody to ask')
  const waiting = questions.values()
  const before = await processorMs(searcher.pid)
  const askAll = async () => {
    for (const question of waiting) await searcher.ask(question)
  }
  const milliseconds = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, askAll)))
  const work = ((await processorMs(searcher.pid)) - before) / questions.length
  return { perSecond: (questions.length / milliseconds) * 1e3, work }
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
    const embeddings = await embed(embedder, texts)
    await post(`${collection}/add`, { ids, embeddings, documents: texts })
  }
  return {
    pid: child.pid ?? 0,
    async ask(question: string) {
      const query_embeddings = await embed(embedder, [question])
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

async function embed(
  { environment }: EmbedderProcess,
  input: readonly string[],
): Promise<number[][]> {
  const { data } = await post(`${environment.EMBEDDING_BASE_URL}/embeddings`, { input })
  return data.map(({ embedding }: { embedding: number[] }) => embedding)
}

async function post(url: string, body: object, headers = { 'content-type': 'application/json' }) {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return JSON.parse(await response.text())
}

/** Milliseconds of processor time that a process has taken, from what Linux keeps in hundredths of a second. */
async function processorMs(pid: number): Promise<number> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
  return (user + system) * 10
}
