import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import { post, prepare } from './support/http-client.ts'
import { KEY, type ServerProcess, startServer } from './support/server-process.ts'
import { median, percentile, round } from './support/statistics.ts'

const LOAD_MS = 120_000
const REST_MS = 60_000
const SAMPLE_MS = 2_000
const CLIENTS = 8
const MEGABYTE = 1_048_576

/** A process of the server, with its proportional share of memory in bytes: pages that processes share are divided. */
interface Share {
  name: string
  bytes: number
}

/** The memory of the server and of all processes that it started, under mixed load and a minute after it (Linux). */
export async function memory(bench: Bench): Promise<Findings> {
  const directory = join(bench.directory, 'memory')
  await mkdir(directory, { recursive: true })
  const environment = { EMBEDDING_MODEL: 'builtin' }
  const server = await startServer({ directory, environment })
  const idle = await family(server.pid)

  const until = Date.now() + LOAD_MS
  const documents = bench.corpus.take(Number.POSITIVE_INFINITY)
  const times: number[] = []
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, () => work(server, documents, times, until)),
  )
  let highest: Share[] = []
  while (Date.now() < until) {
    await pause(SAMPLE_MS)
    const now = await family(server.pid)
    if (total(now) > total(highest)) highest = now
    bench.progress(describe(now))
  }
  await clients
  await pause(REST_MS)
  const after = await family(server.pid)
  await server.stop()
  return {
    title: 'Memory of all processes of the server, in proportional shares',
    rows: [
      { when: 'idle', MB: megabytes(idle), processes: describe(idle) },
      { when: 'mixed load', ...judge(highest, 400) },
      { when: 'a minute after', ...judge(after, 300) },
    ],
    notes: [
      `Mixed load: ${CLIENTS} clients that each add a document, search and chat, for two minutes. Questions: ${times.length}, p50 ${round(median(times))} ms, p95 ${round(percentile(times, 0.95))} ms.`,
    ],
  }
}

function judge(shares: readonly Share[], goal: number) {
  return {
    MB: megabytes(shares),
    goal,
    met: verdict(total(shares) <= goal * MEGABYTE),
    processes: describe(shares),
  }
}

/** One client that adds, searches and chats by turns; `times` gets the milliseconds of each search. */
async function work(
  { url }: ServerProcess,
  documents: Iterator<CorpusDocument>,
  times: number[],
  until: number,
): Promise<void> {
  const send = (path: string, body: object) => post(prepare(`${url}${path}`, KEY, body))
  while (Date.now() < until) {
    const { value: document } = documents.next()
    await send('/documents', document)
    const query = document.text.slice(0, 60).trim()
    const begun = performance.now()
    await send('/query', { query, topK: 10 })
    times.push(performance.now() - begun)
    await send('/chat', { messages: [{ role: 'user', content: query }] })
  }
}

async function family(pid: number): Promise<Share[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readOf(`/proc/${name}/stat`) : ''
    const [, parent] = /\) \S (\d+)/.exec(stat) ?? []
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const members = [pid]
  // Grows while it is walked, by the children of each.
  for (const member of members) {
    members.push(...[...parents].flatMap(([child, parent]) => (parent === member ? [child] : [])))
  }
  return Promise.all(members.map(shareOf))
}

async function shareOf(pid: number): Promise<Share> {
  const [rollup, command] = await Promise.all([
    readOf(`/proc/${pid}/smaps_rollup`),
    readOf(`/proc/${pid}/cmdline`),
  ])
  const [, name = 'ended'] = /([\w-]+)\.[jt]s\0/.exec(command) ?? []
  return { name, bytes: Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1_024 }
}

/** A file of a process; empty if the process has ended. */
async function readOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}

const total = (shares: readonly Share[]) => shares.reduce((sum, { bytes }) => sum + bytes, 0)
const megabytes = (shares: readonly Share[]) => Math.round(total(shares) / MEGABYTE)
const describe = (shares: readonly Share[]) =>
  shares.map((share) => `${share.name} ${megabytes([share])}`).join(', ')
