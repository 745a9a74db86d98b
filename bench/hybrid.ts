import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench, Findings } from './support/bench.ts'
import { startEmbedder } from './support/embedder-process.ts'
import { openEngine } from './support/engine.ts'
import { post, prepare } from './support/http-client.ts'
import { countChunks, ingest } from './support/ingest.ts'
import { KEY, startServer } from './support/server-process.ts'
import { percentile, round } from './support/statistics.ts'
import { timed } from './support/take-turns.ts'

const QUERIES = 300
const QUERY_WORDS = 6
const TOP_K = 5
const ADDED_DOCUMENTS = 200

interface Filled {
  directory: string
  environment: Record<string, string>
  queries: string[]
}

/** A server that searches by words and by meaning: its ingestion rate, its query times, and its memory and disk use. */
export async function hybrid(bench: Bench): Promise<Findings> {
  const embedder = await startEmbedder()
  const rows: Findings['rows'] = []
  for (const size of bench.sizes) rows.push(await measureAt(size, embedder.environment, bench))
  await embedder.stop()
  return {
    title: 'Words and meaning over HTTP',
    rows,
    notes: [
      `Vectors of 384 numbers from a server of seeded ones, in another process, which is asked for each passage and each question. ${QUERIES} queries a round, one at a time, topK ${TOP_K}.`,
      'The ratio is the p50 at rest to that of the search service in the process of the load generator, which asks the same embedder. Every figure has the cost of the embedder in it.',
    ],
  }
}

async function measureAt(size: number, environment: Record<string, string>, bench: Bench) {
  const { corpus, rounds, progress } = bench
  const directory = join(bench.directory, `hybrid-${size}`)
  await mkdir(directory, { recursive: true })
  const queries: string[] = []
  const server = await startServer({ directory, environment })
  const started = performance.now()
  let documents = 0
  const noting = function* () {
    for (const document of corpus.take(size)) {
      documents += 1
      if (documents % 100 === 0) progress(`${size} chunks: ${documents} documents sent`)
      if (queries.length < QUERIES) queries.push(questionOf(document.text, documents))
      yield document
    }
  }
  await ingest(server.url, noting())
  const seconds = (performance.now() - started) / 1e3
  const chunks = await countChunks(server.url)
  // Read before the queries start: it takes longer than the server keeps an idle connection open.
  const all = corpus.take(Number.POSITIVE_INFINITY)
  const others = Array.from(all.drop(documents).take(ADDED_DOCUMENTS))
  progress(`${size} chunks: asking`)
  const rest = await askAll(queries, rounds, (query) => askOne(server.url, query))
  const busy = await askWhile(server.url, queries, ingest(server.url, others))
  const bytes = await server.memory()
  await server.stop()
  const again = await startServer({ directory, environment })
  await again.stop()
  const engine = await askEngine({ directory, environment, queries }, rounds)
  const p50 = percentile(rest, 0.5)
  return {
    chunks,
    'ingested chunks/s': round(chunks / seconds),
    'p50 ms': round(p50, 3),
    'p95 ms': round(percentile(rest, 0.95), 3),
    'engine p50 ms': round(percentile(engine, 0.5), 3),
    ratio: round(p50 / percentile(engine, 0.5)),
    'while ingesting p50 ms': round(percentile(busy, 0.5), 3),
    'while ingesting p95 ms': round(percentile(busy, 0.95), 3),
    'MB of memory': round(bytes / 2 ** 20, 0),
    'MB on disk': round((await diskBytes(join(directory, 'data'))) / 2 ** 20, 0),
    'ready, ms': round(again.startMs, 0),
  }
}

function questionOf(text: string, seed: number): string {
  const words = text.match(/\p{L}[\p{L}\p{N}'-]+/gu) ?? ['documentation']
  const from = (seed * 7_919) % Math.max(words.length - QUERY_WORDS, 1)
  return words.slice(from, from + QUERY_WORDS).join(' ')
}

/** The duration of every query in every round, in milliseconds; an additional first round only warms up. */
async function askAll(
  queries: readonly string[],
  rounds: number,
  ask: (query: string) => Promise<number>,
): Promise<number[]> {
  const times: number[] = []
  for (let run = 0; run <= rounds; run++) {
    for (const query of queries) {
      const taken = await ask(query)
      if (run > 0) times.push(taken)
    }
  }
  return times
}

async function askWhile(url: string, queries: readonly string[], work: Promise<void>) {
  let working = true
  const done = work.finally(() => {
    working = false
  })
  const times: number[] = []
  while (working) times.push(await askOne(url, queries[times.length % queries.length] ?? ''))
  await done
  return times
}

async function askOne(url: string, query: string): Promise<number> {
  const begun = performance.now()
  const { status } = await post(prepare(`${url}/query`, KEY, { query, topK: TOP_K }))
  if (status !== 200) throw new Error(`/query answered ${status}`)
  return performance.now() - begun
}

async function askEngine({ directory, environment, queries }: Filled, rounds: number) {
  const engine = await openEngine(directory, TOP_K, environment)
  const times = await askAll(queries, rounds, (query) => timed(() => engine.search(query)))
  await engine.close()
  return times
}

async function diskBytes(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true })
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(directory, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
