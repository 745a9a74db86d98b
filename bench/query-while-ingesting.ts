import type { Bench, Findings } from './support/bench.ts'
import { type Prepared, post, prepare } from './support/http-client.ts'
import { ingest } from './support/ingest.ts'
import { batches, interleave } from './support/interleave.ts'
import { KEY, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'

const CHUNKS = 10_000
const ADDED_DOCUMENTS = 500
const QUERIES_AT_REST = 500

/** How long `/query` takes while the same server ingests as fast as it can. */
export async function queryWhileIngesting(bench: Bench): Promise<Findings> {
  const seed = await bench.seeded.of(CHUNKS)
  const copy = await bench.seeded.copy(seed, 'while-ingesting')
  const others = bench.corpus.take(Number.POSITIVE_INFINITY).drop(seed.documents)
  const added = batches(others, ADDED_DOCUMENTS, bench.rounds + 1)
  const server = await startServer({ directory: copy.directory })
  const requests = seed.queries.map((text) => prepare(`${server.url}/query`, KEY, { query: text }))
  const found = await interleave(
    {
      rest: () => ask(requests, (asked) => asked < QUERIES_AT_REST),
      ingesting: async (run) => {
        let busy = true
        const ingesting = ingest(server.url, added[run] ?? []).finally(() => {
          busy = false
        })
        const [times] = await Promise.all([ask(requests, () => busy), ingesting])
        return times
      },
    },
    bench.rounds,
    (message) => bench.progress(`query: ${message}`),
  )
  await server.stop()
  return {
    title: `/query, one at a time, ${seed.chunks} chunks and growing`,
    rows: [
      toRow('at rest', found('rest'), found('rest')),
      toRow('while ingesting', found('ingesting'), found('rest')),
    ],
    notes: ['Ingesting: documents of the corpus over 16 connections, without a pause.'],
  }
}

function toRow(when: string, rounds: readonly number[][], rest: readonly number[][]) {
  return {
    when,
    'p50 ms': show(spreadOf(rounds.map(median))),
    'p95 ms': show(spreadOf(rounds.map((times) => percentile(times, 0.95)))),
    'highest ms': round(Math.max(...rounds.flat())),
    'p50, times at rest': show(
      spreadOf(rounds.map((times, run) => median(times) / median(rest[run] ?? []))),
    ),
  }
}

async function ask(requests: readonly Prepared[], goOn: (asked: number) => boolean) {
  const times: number[] = []
  while (goOn(times.length)) {
    const request = requests[times.length % requests.length]
    if (!request) throw new Error('There are no queries')
    const started = performance.now()
    const { status } = await post(request)
    if (status !== 200) throw new Error(`/query answered ${status}`)
    times.push(performance.now() - started)
  }
  return times
}
