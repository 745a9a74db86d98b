import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import { startEmbedder } from './support/embedder-process.ts'
import { post, prepare } from './support/http-client.ts'
import { untilEmbedded, untilIdle } from './support/ingest.ts'
import { interleave } from './support/interleave.ts'
import { passagesFrom } from './support/made-up-passages.ts'
import { processorMs } from './support/processor-time.ts'
import { KEY, startServer } from './support/server-process.ts'
import { round } from './support/statistics.ts'

const DOCUMENTS = 20_000
const BATCH = 500
const GROUPS = 400
const GROUPS_OF_A_DOCUMENT = 2
const WORDS = 40
const QUERIES = 400
const AT_ONCE = 4
const GOAL = 1.3

/** Who asks, by the number of their groups; undefined is the key itself, which sees everything. */
const READERS = { everything: undefined, '9 groups': 9, '200 groups': 200 }
const MODES = ['lexical', 'dense', 'hybrid']

type Reader = keyof typeof READERS

/** What a query costs whose answer is restricted to what a person may read, beside one that is not. */
export async function rights({ directory, rounds, progress }: Bench): Promise<Findings> {
  const folder = join(directory, 'rights')
  await mkdir(folder)
  const embedder = await startEmbedder()
  const environment = { ...embedder.environment, INGEST_QUEUE_LIMIT: String(DOCUMENTS) }
  const server = await startServer({ directory: folder, environment })
  progress(`adding ${DOCUMENTS} documents`)
  const questions = await fill(server.url)
  const names = Object.keys(READERS) as Reader[]
  const ways = MODES.flatMap((mode) =>
    names.map((reader) => {
      const requests = questions.map((query) => requestOf(server.url, reader, { query, mode }))
      const measure = async () => {
        const before = await processorMs(server.pid)
        await askAll(requests)
        return ((await processorMs(server.pid)) - before) / requests.length
      }
      return [`${mode}, ${reader}`, measure] as const
    }),
  )
  const found = await interleave<string, number>(Object.fromEntries(ways), rounds, progress)
  await Promise.all([server.stop(), embedder.stop()])
  const least = (mode: string, reader: Reader) => Math.min(...found(`${mode}, ${reader}`))
  return {
    title: 'Processor time of a query with rights',
    rows: MODES.flatMap((mode) =>
      names.map((reader) => {
        const ratio = least(mode, reader) / least(mode, 'everything')
        return {
          search: mode,
          reader,
          'processor ms': round(least(mode, reader), 3),
          ratio: round(ratio),
          [`≤ ${GOAL}`]: verdict(ratio <= GOAL),
        }
      }),
    ),
    notes: [
      `${DOCUMENTS} documents of ${WORDS} words, half of them for ${GROUPS_OF_A_DOCUMENT} of ${GROUPS} groups each, the rest for everybody; the least of ${rounds} rounds of ${QUERIES} queries, ${AT_ONCE} at once.`,
    ],
  }
}

/** Returns questions that its documents can answer. */
async function fill(url: string): Promise<string[]> {
  const passages = passagesFrom(1, DOCUMENTS, WORDS)
  const documents = passages.map((passage, place) => ({ ...passage, access: accessOf(place) }))
  for (let from = 0; from < DOCUMENTS; from += BATCH) {
    const batch = prepare(`${url}/documents/batch`, KEY, documents.slice(from, from + BATCH))
    const { status } = await post(batch)
    if (status >= 300) throw new Error(`/documents/batch answered ${status}`)
  }
  await untilIdle(url)
  await untilEmbedded(url)
  return passages.slice(0, QUERIES).map(({ text }) => text.split(' ').slice(20, 28).join(' '))
}

function accessOf(place: number): string[] {
  if (place % 2 === 0) return ['public']
  const groups = [place, Math.floor(place / 7)].map((each) => `group:g${each % GROUPS}`)
  return [...new Set(groups)]
}

function requestOf(url: string, reader: Reader, body: object) {
  const prepared = prepare(`${url}/query`, KEY, { ...body, topK: 10 })
  const count = READERS[reader]
  if (count === undefined) return prepared
  const groups = Array.from({ length: count }, (_, i) => `g${i}`)
  const person = { 'agent-user': 'reader', 'agent-user-groups': groups.join() }
  return { ...prepared, headers: { ...prepared.headers, ...person } }
}

async function askAll(requests: readonly ReturnType<typeof prepare>[]): Promise<void> {
  const waiting = requests.values()
  const ask = async () => {
    for (const request of waiting) {
      const { status } = await post(request)
      if (status !== 200) throw new Error(`/query answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
}
