import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { prefersEightBits } from '@agent-server/models'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import { familyOf, judgeMemory, type Member } from './support/family.ts'
import { post, prepare } from './support/http-client.ts'
import { ingest } from './support/ingest.ts'
import { KEY, type ServerProcess, startServer } from './support/server-process.ts'
import { median, round } from './support/statistics.ts'

/** As many documents as Cranfield has, each as long as the median of its abstracts with their titles. */
const DOCUMENTS = 1_400
const CHARACTERS = 1_000
const POLL_MS = 250
/** The process for documents ends after ten seconds without work. */
const REST_MS = 30_000
const QUESTIONS = 20
const GOAL = { perSecond: 25, processorMs: 70, megabytes: 350 }

/** The built-in model within the server: abstracts until all have vectors, the first question, and memory at rest. */
export async function builtinEmbedder(bench: Bench): Promise<Findings> {
  const directory = join(bench.directory, 'builtin-embedder')
  await mkdir(directory, { recursive: true })
  const server = await startServer({ directory, environment: { EMBEDDING_MODEL: 'builtin' } })
  const started = performance.now()
  await ingest(server.url, abstracts(bench))
  const processor = await embedAll(server, bench)
  const perSecond = (DOCUMENTS * 1_000) / (performance.now() - started)
  await pause(REST_MS)
  const without = await familyOf(server.pid)
  const [first = 0, ...others] = await ask(server)
  await pause(REST_MS)
  const rest = await familyOf(server.pid)
  await server.stop()

  const perAbstract = processor / DOCUMENTS
  return {
    title: `The built-in model, ${prefersEightBits() ? 'with 8 bits' : 'with floats'}`,
    rows: [
      {
        what: 'abstracts/s until all have vectors',
        measured: round(perSecond),
        goal: `≥ ${GOAL.perSecond}`,
        met: verdict(perSecond >= GOAL.perSecond),
      },
      {
        what: 'processor time of the embedding process for an abstract, ms',
        measured: round(perAbstract),
        goal: `≤ ${GOAL.processorMs}`,
        met: verdict(perAbstract <= GOAL.processorMs),
      },
      { what: 'the first question, which starts a process, ms', measured: round(first) },
      { what: 'each further question, ms', measured: round(median(others)) },
      { what: 'memory at rest before a question, MB', ...memoryOf(without) },
      { what: 'memory at rest after some, MB', ...memoryOf(rest) },
    ],
    notes: [`${DOCUMENTS} abstracts of ${CHARACTERS} characters.`],
  }
}

function memoryOf(family: readonly Member[]) {
  const { MB, goal, ...others } = judgeMemory(family, GOAL.megabytes)
  return { measured: MB, goal: `≤ ${goal}`, ...others }
}

function* abstracts({ corpus }: Bench) {
  let left = DOCUMENTS
  for (const { title, text } of corpus.take(Number.POSITIVE_INFINITY)) {
    for (let at = 0; at + CHARACTERS <= text.length && left > 0; at += CHARACTERS, left--) {
      yield { title, text: text.slice(at, at + CHARACTERS) }
    }
    if (left === 0) return
  }
}

/** Waits until every chunk has a vector; returns the processor time of the process that made them. */
async function embedAll({ url, pid }: ServerProcess, bench: Bench): Promise<number> {
  let processorMs = 0
  for (;;) {
    const family = await familyOf(pid)
    const worker = family.find(({ name }) => name === 'embed-process')
    processorMs = Math.max(processorMs, worker?.processorMs ?? 0)
    const response = await fetch(`${url}/readiness`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const { embeddings } = Readiness.parse(await response.json())
    if (embeddings?.state === 'done' && embeddings.missing === 0) return processorMs
    bench.progress(`${embeddings?.missing} left`)
    await pause(POLL_MS)
  }
}

async function ask({ url }: ServerProcess): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < QUESTIONS; number++) {
    const question = prepare(`${url}/query`, KEY, { query: `How is number ${number} configured?` })
    const begun = performance.now()
    await post(question)
    times.push(performance.now() - begun)
  }
  return times
}
