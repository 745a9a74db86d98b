import { type Bench, type Findings, verdict } from './support/bench.ts'
import { openEngine } from './support/engine.ts'
import { post, prepare } from './support/http-client.ts'
import { interleave } from './support/interleave.ts'
import type { Seed } from './support/seeded-data.ts'
import { forkServer, KEY, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'
import { type Turns, takeTurns, timed } from './support/take-turns.ts'

const QUERIES_A_ROUND = 300
const CONNECTIONS = 16
/** Enough for sixteen concurrent connections to settle. */
const CROWDED_QUERIES_A_ROUND = 1_200
const TOP_K = 5
const GOAL = 1.2

type Way = 'engine' | 'bare' | 'http'

/** `/query` over HTTP compared with its two halves: the engine without HTTP, and HTTP without the engine. */
export async function query(bench: Bench): Promise<Findings> {
  const rows: Findings['rows'] = []
  for (const size of bench.sizes) {
    const seed = await bench.seeded.of(size)
    const copy = await bench.seeded.copy(seed, `engine-${size}`)
    rows.push(...(await compareAt(seed, copy, bench)))
  }
  return {
    title: '/query over HTTP against engine + bare route',
    rows,
    notes: [
      `Engine: the search service in the process of the load generator. Bare: a route of Fastify alone in a process of its own, answering the same objects. ${QUERIES_A_ROUND} queries a round each, ${CROWDED_QUERIES_A_ROUND} where ${CONNECTIONS} run at once; topK ${TOP_K}.`,
      `One at a time, the three ways take turns call by call, so that each finds the machine as cool as the others; ${CONNECTIONS} at once, round by round.`,
      'The ratio is p50 of HTTP to the sum of the other two p50s.',
    ],
  }
}

async function compareAt(seed: Seed, copy: Seed, { rounds, progress }: Bench) {
  const engine = await openEngine(copy.directory, TOP_K)
  const answers: object[] = []
  for (const text of seed.queries) answers.push({ query: text, hits: await engine.search(text) })
  const bare = await forkServer(new URL('./bare-route.ts', import.meta.url))
  await bare.tell(answers)
  const server = await startServer({ directory: seed.directory })
  const requestsTo = (url: string) => {
    const requests = seed.queries.map((text) => prepare(url, KEY, { query: text, topK: TOP_K }))
    return async (at: number) => {
      const request = requests[at % requests.length]
      if (request && (await post(request)).status !== 200) throw new Error(`${url} failed`)
    }
  }
  const ways = {
    engine: (at: number) => engine.search(seed.queries[at % seed.queries.length] ?? ''),
    bare: requestsTo(`${bare.url}/query`),
    http: requestsTo(`${server.url}/query`),
  }
  const label = `${seed.chunks} chunks`
  const single = await takeTurns(
    {
      engine: (at) => timed(() => ways.engine(at)),
      bare: (at) => timed(() => ways.bare(at)),
      http: (at) => timed(() => ways.http(at)),
    },
    { rounds, calls: QUERIES_A_ROUND },
    (message) => progress(`${label}, one at a time: ${message}`),
  )
  const crowded = await interleave(
    {
      engine: (run: number) => crowd(ways.engine, run),
      bare: (run: number) => crowd(ways.bare, run),
      http: (run: number) => crowd(ways.http, run),
    },
    rounds,
    (message) => progress(`${label}, ${CONNECTIONS} at once: ${message}`),
  )
  await Promise.all([server.stop(), bare.stop(), engine.close()])
  return [toRow(seed.chunks, 1, single), toRow(seed.chunks, CONNECTIONS, crowded)]
}

/** The duration of each call in milliseconds, with `CONNECTIONS` calls in flight. */
async function crowd(call: (at: number) => Promise<unknown>, run: number): Promise<number[]> {
  const times: number[] = []
  const end = (run + 1) * CROWDED_QUERIES_A_ROUND
  let at = run * CROWDED_QUERIES_A_ROUND
  const callOn = async () => {
    while (at < end) {
      const mine = at++
      times.push(await timed(() => call(mine)))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, callOn))
  return times
}

function toRow(chunks: number, connections: number, found: Turns<Way>) {
  const p50 = (way: Way) => found(way).map(median)
  const [engine, bare, http] = [p50('engine'), p50('bare'), p50('http')]
  const ratio = spreadOf(http.map((one, run) => one / ((engine[run] ?? 0) + (bare[run] ?? 0))))
  return {
    chunks,
    'at once': connections,
    'engine p50 ms': show(spreadOf(engine), 3),
    'bare p50 ms': show(spreadOf(bare), 3),
    'HTTP p50 ms': show(spreadOf(http), 3),
    'HTTP p95 ms': round(percentile(found('http').flat(), 0.95)),
    ratio: show(ratio),
    [`≤ ${GOAL}`]: verdict(ratio.median <= GOAL),
  }
}
