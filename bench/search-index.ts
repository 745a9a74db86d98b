import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex, TermBatch } from '@agent-server/search'
import { createAnalyser, createEmbeddedIndex } from '@agent-server/search'
import { splitText } from '../src/documents/ingestion/split/split-text.ts'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { percentile, round } from './support/statistics.ts'

const QUERIES = 300
/** As many as `/query` requests with its default top-k. */
const LIMIT = 21
/** The words of a query, taken from a document: between `fewest` and `most` of them, from index `first` on. */
const WORDS_OF_A_QUERY = { first: 20, fewest: 3, most: 10 }
/** Documents that are replaced by themselves over and over, to measure how that affects searches. */
const REPLACED_DOCUMENTS = 100

const analyser = createAnalyser('english')
const NO_FILTERS = { visibleKeys: async () => new Uint32Array() }

interface Built {
  keys: number
  postings: number
  analysing: number
  adding: number
  queries: string[]
  replacements: { keys: Uint32Array<ArrayBuffer>; terms: TermBatch }[]
}

/** The embedded index called directly, through its thread: how fast it adds chunks, and how fast it searches. */
export async function searchIndex(bench: Bench): Promise<Findings> {
  const rows: Findings['rows'] = []
  for (const size of bench.sizes) {
    const directory = join(bench.directory, `search-index-${size}`)
    const index = await open(directory)
    const built = await build(index, size, bench)
    const searching = await timeSearches(index, built.queries, bench.rounds)
    const meanwhile = await timeSearchesWhileReplacing(index, built)
    await index.close()
    const begun = performance.now()
    const reopened = await open(directory)
    const opening = performance.now() - begun
    await reopened.close()
    const { bytes, segments } = await measureFiles(directory)
    rows.push({
      chunks: built.keys,
      'analysed chunks/s': round((built.keys / built.analysing) * 1e3),
      'added chunks/s': round((built.keys / built.adding) * 1e3),
      'postings/chunk': round(built.postings / built.keys),
      'bytes/chunk': round(bytes / built.keys),
      segments,
      'search p50 ms': round(percentile(searching, 0.5), 3),
      'search p95 ms': round(percentile(searching, 0.95), 3),
      'while replacing p50 ms': round(percentile(meanwhile, 0.5), 3),
      'while replacing p95 ms': round(percentile(meanwhile, 0.95), 3),
      'open ms': round(opening),
    })
  }
  return {
    title: 'The embedded index, called through its thread',
    rows,
    notes: [
      `${QUERIES} queries of ${WORDS_OF_A_QUERY.fewest} to ${WORDS_OF_A_QUERY.most} words of the text, limit ${LIMIT}. Chunks are added a document at a time; "while replacing" is with documents being replaced without a pause.`,
    ],
  }
}

/** The size of the segments on disk, which equals their size in memory. */
async function measureFiles(directory: string) {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.segment'))
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(directory, file))).size),
  )
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), segments: files.length }
}

async function open(directory: string): Promise<ChunkIndex> {
  const index = createEmbeddedIndex({
    directory,
    fingerprint: analyser.fingerprint,
    source: NO_FILTERS,
    onCrash: (error) => {
      throw error
    },
  })
  await index.check(AbortSignal.timeout(60_000))
  return index
}

async function build(index: ChunkIndex, size: number, { corpus, progress }: Bench): Promise<Built> {
  const built: Built = {
    keys: 0,
    postings: 0,
    analysing: 0,
    adding: 0,
    queries: [],
    replacements: [],
  }
  for (const document of corpus.take(size)) {
    const chunks = splitText(document.text)
    const begun = performance.now()
    const terms = analyser.batch(chunks.map((chunk) => ({ title: document.title, ...chunk })))
    const analysed = performance.now()
    const keys = Uint32Array.from({ length: terms.size }, (_, i) => built.keys + i)
    await index.add(keys, terms, [])
    built.adding += performance.now() - analysed
    built.analysing += analysed - begun
    built.postings += terms.terms.length
    built.keys += terms.size
    if (built.replacements.length < REPLACED_DOCUMENTS) built.replacements.push({ keys, terms })
    if (built.keys / size >= built.queries.length / QUERIES)
      built.queries.push(toQuery(document, built.queries.length))
    progress(`${built.keys} of ${size} chunks`)
  }
  return built
}

function toQuery({ text }: CorpusDocument, at: number): string {
  const { first, fewest, most } = WORDS_OF_A_QUERY
  const words = text.split(/\s+/).filter((word) => /^\p{L}{4,}$/u.test(word))
  return words.slice(first, first + fewest + (at % (most - fewest + 1))).join(' ')
}

async function timeSearches(
  index: ChunkIndex,
  queries: readonly string[],
  rounds: number,
): Promise<number[]> {
  const times: number[] = []
  // The first round warms up.
  for (let run = 0; run <= rounds; run++) {
    for (const text of queries) {
      const terms = analyser.query(text)
      const begun = performance.now()
      await index.search(everything(), { mode: 'lexical', terms, limit: LIMIT })
      if (run > 0) times.push(performance.now() - begun)
    }
  }
  return times
}

async function timeSearchesWhileReplacing(index: ChunkIndex, { queries, replacements }: Built) {
  let replacing = true
  const replacement = (async () => {
    while (replacing) {
      for (const { keys, terms } of replacements) await index.add(keys, terms, [])
    }
  })()
  const times = await timeSearches(index, queries, 1)
  replacing = false
  await replacement
  return times
}
