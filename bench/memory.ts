import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Findings } from './support/bench.ts'
import type { CorpusDocument } from './support/corpus.ts'
import {
  bytesOf,
  describeFamily,
  familyOf,
  judgeMemory,
  type Member,
  megabytesOf,
} from './support/family.ts'
import { post, prepare } from './support/http-client.ts'
import { KEY, type ServerProcess, startServer } from './support/server-process.ts'
import { median, percentile, round } from './support/statistics.ts'

const LOAD_MS = 120_000
const REST_MS = 60_000
const SAMPLE_MS = 2_000
const CLIENTS = 8

/** The memory of the server and of all processes that it started, under mixed load and a minute after it (Linux). */
export async function memory(bench: Bench): Promise<Findings> {
  const directory = join(bench.directory, 'memory')
  await mkdir(directory, { recursive: true })
  const environment = { EMBEDDING_MODEL: 'builtin' }
  const server = await startServer({ directory, environment })
  const idle = await familyOf(server.pid)

  const until = Date.now() + LOAD_MS
  const documents = bench.corpus.take(Number.POSITIVE_INFINITY)
  const times: number[] = []
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, () => work(server, documents, times, until)),
  )
  let highest: Member[] = []
  while (Date.now() < until) {
    await pause(SAMPLE_MS)
    const now = await familyOf(server.pid)
    if (bytesOf(now) > bytesOf(highest)) highest = now
    bench.progress(describeFamily(now))
  }
  await clients
  await pause(REST_MS)
  const after = await familyOf(server.pid)
  await server.stop()
  return {
    title: 'Memory of all processes of the server, in proportional shares',
    rows: [
      { when: 'idle', MB: megabytesOf(idle), processes: describeFamily(idle) },
      { when: 'mixed load', ...judgeMemory(highest, 400) },
      { when: 'a minute after', ...judgeMemory(after, 300) },
    ],
    notes: [
      `Mixed load: ${CLIENTS} clients that each add a document, search and chat, for two minutes. Questions: ${times.length}, p50 ${round(median(times))} ms, p95 ${round(percentile(times, 0.95))} ms.`,
    ],
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
