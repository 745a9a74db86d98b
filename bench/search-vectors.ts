import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex } from '@agent-server/search'
import { createEmbeddedIndex } from '@agent-server/search'
import { Index, MetricKind, ScalarKind } from 'usearch'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import {
  type ClusteredVectors,
  createClusteredVectors,
  DIMENSION,
} from './support/clustered-vectors.ts'
import { percentile, round } from './support/statistics.ts'

const QUESTIONS = 200
/** As many candidates as a search requests, and how many of the best are compared. */
const CANDIDATES = 100
const TOP = 10
/** About as many vectors as a document has. */
const BATCH = 32
/** Added at the end, to the index and to the bare graph, to compare their rates at full size. */
const COMPARED_ADDITIONS = 512
const MIN_RECALL = 0.98

type Vector = Float32Array<ArrayBuffer>

const NO_TERMS = { terms: new Uint32Array(), counts: new Float32Array() }

/** The index's vector search, called through its thread, against the bare graph library and an exhaustive search. */
export async function searchVectors(bench: Bench): Promise<Findings> {
  const rows: Findings['rows'] = []
  for (const size of bench.sizes) rows.push(await measureAt(size, bench))
  return {
    title: `Vectors of ${DIMENSION} numbers in the embedded index, called through its thread`,
    rows,
    notes: [
      `Seeded vectors in clusters (bench/support/clustered-vectors.ts), ${QUESTIONS} questions near some of them. A search takes ${CANDIDATES} candidates of the graph; recall@${TOP} is that of the best ${TOP} of them by exact comparison, as /query compares, against the best ${TOP} of all.`,
      'The ratios are to the graph library alone in the same process, with the file that the index wrote. "Written" is what a close takes that has the whole graph to write.',
    ],
  }
}

async function measureAt(size: number, { directory: parent, rounds, progress }: Bench) {
  const directory = join(parent, `search-vectors-${size}`)
  const vectors = createClusteredVectors()
  const questions = Array.from({ length: QUESTIONS }, (_, i) =>
    vectors.question(Math.floor((i * size) / QUESTIONS)),
  )
  const index = await open(directory)
  const rates = await fill(index, vectors, size, progress)
  progress(`${size} vectors: searching`)
  const searching = await timeSearches(index, questions, rounds)
  const recall = await recallOf(index, vectors, questions, size, progress)
  const closed = performance.now()
  await index.close()
  const writing = performance.now() - closed
  const begun = performance.now()
  const reopened = await open(directory)
  const opening = performance.now() - begun
  const alone = await measureAlone(directory, vectors, questions, { size, rounds })
  const adding = await timeAdditions(reopened, vectors, size)
  await reopened.close()
  const p50 = percentile(searching, 0.5)
  return {
    vectors: size,
    'added/s': round(rates.all),
    'last tenth added/s': round(rates.last),
    'adding ratio': round(adding / alone.adding),
    'search p50 ms': round(p50, 3),
    'search p95 ms': round(percentile(searching, 0.95), 3),
    'search ratio': round(p50 / alone.p50),
    [`recall@${TOP}`]: round(recall, 4),
    [`≥ ${MIN_RECALL}`]: verdict(recall >= MIN_RECALL),
    'disk bytes/vector': round((await diskBytes(directory)) / size),
    'written in ms': round(writing),
    'opened in ms': round(opening),
  }
}

async function open(directory: string): Promise<ChunkIndex> {
  const index = createEmbeddedIndex({
    directory,
    fingerprint: 'vectors',
    vectorFingerprint: 'bench',
    source: { visibleKeys: async () => new Uint32Array() },
    onCrash: (error) => {
      throw error
    },
  })
  await index.check(AbortSignal.timeout(60_000))
  return index
}

async function fill(
  index: ChunkIndex,
  vectors: ClusteredVectors,
  size: number,
  progress: (message: string) => void,
) {
  const times: number[] = []
  for (let from = 0; from < size; from += BATCH) {
    const batch = batchOf(vectors, from, Math.min(from + BATCH, size))
    const begun = performance.now()
    await index.addVectors(batch)
    times.push(performance.now() - begun)
    if (from % (BATCH * 32) === 0) progress(`${from} of ${size} vectors added`)
  }
  const rateOf = (some: readonly number[]) =>
    (some.length * BATCH * 1e3) / some.reduce((sum, time) => sum + time, 0)
  return { all: rateOf(times), last: rateOf(times.slice(-Math.ceil(times.length / 10))) }
}

function batchOf(vectors: ClusteredVectors, from: number, to: number) {
  const keys = Uint32Array.from({ length: to - from }, (_, i) => from + i)
  const values = new Float32Array(keys.length * DIMENSION)
  keys.forEach((key, i) => {
    values.set(vectors.chunk(key), i * DIMENSION)
  })
  return { keys, dimension: DIMENSION, values }
}

async function nearestIn(index: ChunkIndex, vector: Vector) {
  const query = { mode: 'dense', terms: NO_TERMS, limit: CANDIDATES } as const
  return (await index.search(everything(), { ...query, vector: Promise.resolve(vector) }))
    .candidates
}

async function timeSearches(index: ChunkIndex, questions: readonly Vector[], rounds: number) {
  const times: number[] = []
  // The first round warms up.
  for (let run = 0; run <= rounds; run++) {
    for (const vector of questions) {
      const begun = performance.now()
      await nearestIn(index, vector)
      if (run > 0) times.push(performance.now() - begun)
    }
  }
  return times
}

async function recallOf(
  index: ChunkIndex,
  vectors: ClusteredVectors,
  questions: readonly Vector[],
  size: number,
  progress: (message: string) => void,
): Promise<number> {
  const best = questions.map((): { key: number; score: number }[] => [])
  for (let key = 0; key < size; key++) {
    const vector = vectors.chunk(key)
    questions.forEach((question, i) => {
      const list = best[i] ?? []
      const score = dot(vector, question)
      if (list.length === TOP && score <= (list.at(-1)?.score ?? 0)) return
      const place = list.findIndex((other) => other.score < score)
      list.splice(place < 0 ? list.length : place, 0, { key, score })
      if (list.length > TOP) list.pop()
    })
    if (key % 5_000 === 0) progress(`${key} of ${size} vectors compared with every question`)
  }
  let found = 0
  for (const [i, vector] of questions.entries()) {
    const candidates = await nearestIn(index, vector)
    // The exact comparison ranks any true best match among the candidates first.
    const keys = new Set(candidates.map(({ key }) => key))
    found += best[i]?.filter(({ key }) => keys.has(key)).length ?? 0
  }
  return found / (questions.length * TOP)
}

/** Measures the graph library without the index around it, on the file that the index wrote. */
async function measureAlone(
  directory: string,
  vectors: ClusteredVectors,
  questions: readonly Vector[],
  { size, rounds }: { size: number; rounds: number },
) {
  const file = (await readdir(directory)).find((name) => name.endsWith('.graph'))
  const graph = openGraph()
  graph.load(join(directory, file ?? ''))
  const times: number[] = []
  for (let run = 0; run <= rounds; run++) {
    for (const question of questions) {
      const begun = performance.now()
      graph.search(question, CANDIDATES, 1)
      if (run > 0) times.push(performance.now() - begun)
    }
  }
  let adding = 0
  for (let from = size; from < size + COMPARED_ADDITIONS; from += BATCH) {
    const { keys, values } = batchOf(vectors, from, from + BATCH)
    const begun = performance.now()
    graph.add(BigUint64Array.from(keys, BigInt), values, 1)
    adding += performance.now() - begun
  }
  return { p50: percentile(times, 0.5), adding }
}

function openGraph(): Index {
  return new Index({
    dimensions: DIMENSION,
    metric: MetricKind.Cos,
    quantization: ScalarKind.I8,
    multi: false,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: 128,
  })
}

async function timeAdditions(index: ChunkIndex, vectors: ClusteredVectors, size: number) {
  let adding = 0
  for (let from = size; from < size + COMPARED_ADDITIONS; from += BATCH) {
    const batch = batchOf(vectors, from, from + BATCH)
    const begun = performance.now()
    await index.addVectors(batch)
    adding += performance.now() - begun
  }
  return adding
}

async function diskBytes(directory: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

function dot(a: Vector, b: Vector): number {
  let sum = 0
  for (let i = 0; i < DIMENSION; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
