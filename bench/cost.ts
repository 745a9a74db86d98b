import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { startEmbedder } from './support/embedder-process.ts'
import { post, prepare, stream } from './support/http-client.ts'
import { ingest, untilEmbedded } from './support/ingest.ts'
import { passagesFrom } from './support/made-up-passages.ts'
import { processorMs } from './support/processor-time.ts'
import { KEY, startServer } from './support/server-process.ts'
import { round } from './support/statistics.ts'
import { modelAt, startUpstream, type Upstream } from './support/upstream-process.ts'

/** What each work cost when its figure was last changed, in thousandths of the reference computation. */
const FIGURES = new URL('./cost.json', import.meta.url)
/**
 * How far above its figure a work may be. Parts of a work cost other shares of the reference on another machine: the
 * same commit took 0.85 and 1.28 of a figure on two that name the same processor.
 */
const TOLERANCE = 1.6
/** How many times as many rounds a guard may take until nothing is above: a busy machine makes all of it dearer. */
const MORE_ROUNDS = 3
const AT_ONCE = 8
const PASSAGES = 1_000
const TIMES = { queries: 1_000, deltas: 300, chats: 100, documents: 200, abstracts: 8 }
/** Between two deltas, so that each is a piece of its own. */
const DELTA_MS = 2

interface Work {
  name: string
  /** Does the work; returns how often. */
  run(): Promise<number>
  /** The process that does it. */
  pid: number
}

/**
 * The processor time of short works of the server beside that of a fixed computation in the same run, so that one
 * figure serves machines of different speed. The least of all rounds counts: others on the machine only add to it.
 */
export async function cost({ directory, rounds, guard, progress }: Bench): Promise<Findings> {
  const embedder = await startEmbedder()
  const upstream = await startUpstream()
  const environment = { ...embedder.environment, ...modelAt(upstream.url) }
  const server = await startServer({ directory: await folder(directory, 'cost'), environment })
  const builtin = await startServer({
    directory: await folder(directory, 'cost-builtin'),
    environment: { EMBEDDING_MODEL: 'builtin' },
  })
  const passages = passagesFrom(1, PASSAGES)
  await ingest(server.url, passages)
  await untilEmbedded(server.url)
  const instructions = await instructionSet()
  const works = [
    ...worksOf(server, upstream, passages),
    ingestion(`an abstract, built-in model, ${instructions}`, builtin, TIMES.abstracts),
  ]
  const figures: Record<string, number> = JSON.parse(await readFile(FIGURES, 'utf8'))
  const least = new Map<string, number>()
  progress('warming up')
  await measureOnce(works, new Map())
  const most = guard ? rounds * MORE_ROUNDS : rounds
  for (let turn = 1; turn <= most; turn += 1) {
    if (turn > rounds && aboveFigures(least, figures).length === 0) break
    progress(`round ${turn}`)
    await measureOnce(works, least)
  }
  await Promise.all([server.stop(), builtin.stop(), upstream.stop(), embedder.stop()])
  if (guard) refuse(aboveFigures(least, figures))
  return toFindings(least, figures)
}

async function measureOnce(works: readonly Work[], least: Map<string, number>): Promise<void> {
  const note = (name: string, value: number) =>
    least.set(name, Math.min(value, least.get(name) ?? Number.POSITIVE_INFINITY))
  for (const { name, run, pid } of works) {
    note('reference', referenceMs())
    const before = await processorMs(pid)
    const times = await run()
    note(name, ((await processorMs(pid)) - before) / times)
  }
}

async function folder(directory: string, name: string): Promise<string> {
  const path = join(directory, name)
  await mkdir(path, { recursive: true })
  return path
}

type Server = Pick<Awaited<ReturnType<typeof startServer>>, 'url' | 'pid'>

function worksOf({ url, pid }: Server, upstream: Upstream, passages: CorpusDocument[]): Work[] {
  const questions = passages.map(({ text }) => text.split(' ').slice(20, 28).join(' '))
  const query = (mode: string): Work => ({
    name: `a query, ${mode}`,
    pid,
    run: () =>
      atOnce(TIMES.queries, async (at) => {
        const body = { query: questions[at % PASSAGES], topK: 10, mode }
        const { status } = await post(prepare(`${url}/query`, KEY, body))
        if (status !== 200) throw new Error(`/query answered ${status}`)
      }),
  })
  const chats = async (count: number, deltas: number, intervalMs = 0) => {
    await upstream.pace({ delayMs: 0, deltas, intervalMs })
    return atOnce(count, async (at) => {
      const messages = [{ role: 'user', content: questions[at % PASSAGES] }]
      const answer = await stream(prepare(`${url}/chat`, KEY, { model: 'bench', messages }))
      if (answer.deltas !== deltas) throw new Error(`${answer.deltas} of ${deltas} deltas arrived`)
    })
  }
  return [
    query('lexical'),
    query('dense'),
    query('hybrid'),
    { name: 'a chat of one delta', pid, run: () => chats(TIMES.chats, 1) },
    {
      name: 'a delta',
      pid,
      run: async () => TIMES.deltas * (await chats(AT_ONCE, TIMES.deltas, DELTA_MS)),
    },
    ingestion('a document', { url, pid }, TIMES.documents),
  ]
}

/** Other documents each time, as known ones are not embedded again. */
function ingestion(name: string, { url, pid }: Server, count: number): Work {
  let seed = 1
  return {
    name,
    pid,
    async run() {
      seed += 1
      await ingest(url, passagesFrom(seed, count))
      await untilEmbedded(url)
      return count
    },
  }
}

/** The built-in model's time depends on it, which the reference computation cannot tell: each has its own figure. */
async function instructionSet(): Promise<string> {
  const flags = await readFile('/proc/cpuinfo', 'utf8')
  return ['avx512_vnni', 'avx_vnni', 'avx2', 'asimddp'].find((set) => flags.includes(set)) ?? 'none'
}

async function atOnce(count: number, call: (at: number) => Promise<void>): Promise<number> {
  const places = Array.from({ length: count }, (_, at) => at).values()
  const callAll = async () => {
    for (const at of places) await call(at)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callAll))
  return count
}

/** Strings, objects, numbers and hashes, as in the server. */
function referenceMs(): number {
  const before = process.cpuUsage()
  const texts = passagesFrom(7, 200)
  for (let turn = 0; turn < 5; turn += 1) {
    for (const { text } of texts) {
      const counts = new Map<string, number>()
      for (const word of text.match(/\w+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1)
      const parsed: [string, number][] = JSON.parse(JSON.stringify([...counts]))
      Float64Array.from(parsed, ([, count]) => Math.sqrt(count)).sort()
      createHash('sha256').update(text).digest('hex')
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

interface Cost {
  name: string
  ms: number
  /** In thousandths of the reference computation. */
  now: number
  /** NaN for a work that has none, such as the model with other instructions: it is shown only. */
  figure: number
}

function costsOf(least: ReadonlyMap<string, number>, figures: Record<string, number>): Cost[] {
  const reference = least.get('reference') ?? Number.NaN
  return [...least]
    .filter(([name]) => name !== 'reference')
    .map(([name, ms]) => {
      return { name, ms, now: (ms / reference) * 1_000, figure: figures[name] ?? Number.NaN }
    })
}

function aboveFigures(least: ReadonlyMap<string, number>, figures: Record<string, number>): Cost[] {
  return costsOf(least, figures).filter(({ now, figure }) => now > figure * TOLERANCE)
}

function refuse(above: readonly Cost[]): void {
  if (above.length === 0) return
  const lines = above.map(({ name, now, figure }) => `${name}: ${round(now)}, was ${round(figure)}`)
  throw new Error(
    `More than ${TOLERANCE} times the figures in bench/cost.json, in thousandths of the reference:\n${lines.join('\n')}`,
  )
}

function toFindings(least: ReadonlyMap<string, number>, figures: Record<string, number>): Findings {
  return {
    title: 'Processor time of short works',
    rows: costsOf(least, figures).map(({ name, ms, now, figure }) => ({
      work: name,
      'processor ms': round(ms, 3),
      'thousandths of the reference': round(now),
      'in bench/cost.json': round(figure),
    })),
    notes: [`The reference computation takes ${round(least.get('reference') ?? Number.NaN)} ms.`],
  }
}
