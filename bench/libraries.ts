import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { type EmbedderProcess, startEmbedder } from './support/embedder-process.ts'
import { openEngine } from './support/engine.ts'
import { countChunks, ingest, untilEmbedded } from './support/ingest.ts'
import { passagesOf, questionOf } from './support/passages.ts'
import { CROWDED_CALLS, measureSearchers, type Searcher } from './support/searchers.ts'
import { startServer } from './support/server-process.ts'

const TOP_K = 10
const BATCH = 2_000

/** Answers a question within this process. */
type Ask = Searcher['ask']

/** The search service of this server next to search libraries, all in one process. */
export async function libraries(bench: Bench): Promise<Findings> {
  const passages = passagesOf(bench, bench.sizes.at(-1) ?? 0)
  const embedder = await startEmbedder()
  const engine = await openFilledEngine(bench, embedder, passages)
  const sqlite = openSqlite(passages)
  const lance = await openLance(bench, embedder, passages)
  const asks: Record<string, Ask> = {
    'ours, words': engine.asking('lexical'),
    'SQLite FTS5, words': sqlite.ask,
    ...(lance && { 'LanceDB, words': lance.words }),
    'ours, vectors': engine.asking('dense'),
    ...(lance && { 'LanceDB, vectors': lance.vectors }),
    'ours, words and vectors': engine.asking('hybrid'),
    ...(lance && { 'LanceDB, words and vectors': lance.both }),
  }
  const searchers = Object.entries(asks).map(([name, ask]) => [name, { ask, pid: process.pid }])
  const questions = passages.slice(0, CROWDED_CALLS).map(questionOf)
  const rows = await measureSearchers(Object.fromEntries(searchers), questions, bench)
  await engine.close()
  sqlite.close()
  lance?.close()
  await embedder.stop()
  return {
    title: `Beside libraries within one process, ${passages.length} passages, top ${TOP_K}`,
    // Left out, since all share the memory of one process.
    rows: rows.map(({ 'MB of memory': _, ...row }) => row),
    notes: [
      'SQLite FTS5: Porter stems, no stop words, titles count twice, any word of the question. It runs in the thread that asks: 16 at once wait for each other.',
      lance
        ? 'LanceDB: an IVF_HNSW_SQ index with the cosine, and its full-text index with English stems and stop words; both joined by its reciprocal rank fusion.'
        : 'LanceDB is not installed: `npm install @lancedb/lancedb` in some folder, then `--lancedb <that folder>`.',
      'The vector of a question comes from a server of seeded ones in another process, for each of them alike.',
    ],
  }
}

async function openFilledEngine(
  { directory, progress }: Bench,
  { environment }: EmbedderProcess,
  passages: CorpusDocument[],
) {
  const place = join(directory, 'libraries-engine')
  await mkdir(place, { recursive: true })
  const server = await startServer({ directory: place, environment })
  progress(`${passages.length} passages go to this server`)
  await ingest(server.url, passages)
  await untilEmbedded(server.url)
  const chunks = await countChunks(server.url)
  await server.stop()
  if (chunks !== passages.length) throw new Error(`${passages.length} passages became ${chunks}`)
  const { search, close } = await openEngine(place, TOP_K, environment)
  return {
    asking: (mode: 'lexical' | 'dense' | 'hybrid') => async (query: string) => {
      const { degraded } = await search(query, mode)
      if (degraded) throw new Error('The embedder did not answer')
    },
    close,
  }
}

function openSqlite(passages: readonly CorpusDocument[]) {
  const database = new DatabaseSync(':memory:')
  const tokenize = "tokenize = 'porter unicode61 remove_diacritics 2'"
  database.exec(`CREATE VIRTUAL TABLE passages USING fts5(title, text, ${tokenize}); BEGIN`)
  const insert = database.prepare('INSERT INTO passages (title, text) VALUES (?, ?)')
  for (const { title, text } of passages) insert.run(title, text)
  database.exec("COMMIT; INSERT INTO passages (passages) VALUES ('optimize')")
  const search = database.prepare(
    `SELECT title, text, bm25(passages, 2.0, 1.0) AS score FROM passages WHERE passages MATCH ?
     ORDER BY score LIMIT ${TOP_K}`,
  )
  return {
    ask: async (question: string) => search.all(anyWordOf(question)),
    close: () => database.close(),
  }
}

function anyWordOf(question: string): string {
  const words = question.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => `"${word}"`).join(' OR ')
}

async function openLance(
  { lancedb, directory, progress }: Bench,
  { embed }: EmbedderProcess,
  passages: readonly CorpusDocument[],
) {
  if (lancedb === undefined) return undefined
  const entry = join(lancedb, 'node_modules/@lancedb/lancedb/dist/index.js')
  const { connect, Index, rerankers } = await import(pathToFileURL(entry).href)
  const database = await connect(join(directory, 'lancedb'))
  let table: LanceTable | undefined
  for (let at = 0; at < passages.length; at += BATCH) {
    progress(`${at} of ${passages.length} passages went to LanceDB`)
    const batch = passages.slice(at, at + BATCH)
    const vectors = await embed(batch.map(({ title, text }) => `${title}\n${text}`))
    const rows = batch.map((passage, place) => ({ ...passage, vector: vectors[place] }))
    if (table) await table.add(rows)
    else table = (await database.createTable('passages', rows)) as LanceTable
  }
  if (!table) throw new Error('There are no passages')
  progress('LanceDB makes its indexes')
  await table.createIndex('vector', { config: Index.hnswSq({ distanceType: 'cosine' }) })
  await table.createIndex('text', { config: Index.fts({ stem: true, removeStopWords: true }) })
  await table.optimize()
  const fusion = await rerankers.RRFReranker.create()
  const filled = table
  const search = () => filled.query().select(['title', 'text'])
  const read = (found: LanceQuery) => found.limit(TOP_K).toArray()
  const vectorOf = async (question: string) => (await embed([question]))[0] ?? []
  return {
    words: (question: string) => read(search().fullTextSearch(question)),
    vectors: async (question: string) => read(search().nearestTo(await vectorOf(question))),
    both: async (question: string) => {
      const nearest = search().nearestTo(await vectorOf(question))
      return read(nearest.fullTextSearch(question).rerank(fusion))
    },
    close: () => database.close(),
  }
}

/** The part of LanceDB's API that is used here; LanceDB is not among the dependencies. */
interface LanceTable {
  add(rows: object[]): Promise<unknown>
  createIndex(column: string, options: object): Promise<void>
  optimize(): Promise<unknown>
  query(): LanceQuery
}

interface LanceQuery {
  select(columns: string[]): LanceQuery
  fullTextSearch(question: string): LanceQuery
  nearestTo(vector: readonly number[]): LanceQuery
  rerank(fusion: object): LanceQuery
  limit(count: number): LanceQuery
  toArray(): Promise<object[]>
}
