import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, type Findings, verdict } from './support/bench.ts'
import { type Prepared, prepare, type Streamed, stream } from './support/http-client.ts'
import { type Found, interleave } from './support/interleave.ts'
import { KEY, type ServerProcess, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'
import { modelAt, startUpstream, type Upstream } from './support/upstream-process.ts'

const CHUNKS = 10_000
const MEMORY_SAMPLE_MS = 100
/** Between two requests of `/health`, which must not wait for the streams. */
const HEALTH_MS = 50
/** Chats that only warm up, some at a time, because V8 is still compiling until then. */
const WARM_UP = { chats: 480, atOnce: 16, pace: { delayMs: 0, deltas: 20, intervalMs: 0 } }

/** Paced the way models write, and as fast as possible. */
const LOADS = [
  { streams: 32, pace: { delayMs: 50, deltas: 100, intervalMs: 20 } },
  { streams: 32, pace: { delayMs: 50, deltas: 2_000, intervalMs: 0 } },
  { streams: 200, pace: { delayMs: 50, deltas: 300, intervalMs: 33 } },
  { streams: 1_000, pace: { delayMs: 50, deltas: 150, intervalMs: 100 } },
  { streams: 1_000, pace: { delayMs: 50, deltas: 100, intervalMs: 0 } },
]

type Load = (typeof LOADS)[number]

interface Flood {
  deltasPerSecond: number
  gaps: number[]
  firstDeltas: number[]
  /** For each stream, the milliseconds from its first delta to its end. */
  lengths: number[]
  failed: number
  /** Milliseconds that each `/health` took meanwhile. */
  health: number[]
  /** The peak growth of the server's memory, in bytes. */
  growth: number
}

/** Many concurrent chats: the deltas that arrive through the server, against those of the upstream directly. */
export async function streams(bench: Bench): Promise<Findings> {
  const seed = await bench.seeded.of(CHUNKS)
  const upstream = await startUpstream()
  const rows: Findings['rows'] = []
  const loads = LOADS.filter((_, at) => bench.load === undefined || bench.load === String(at + 1))
  for (const load of loads) {
    const environment = modelAt(upstream.url)
    const server = await startServer({ directory: seed.directory, environment })
    rows.push(await measure(load, upstream, server, seed.queries, bench))
    await server.stop()
  }
  await upstream.stop()
  return {
    title: 'Concurrent chat streams',
    rows,
    notes: [
      'Upstream, server and load generator share the cores, so the ratio of unpaced streams is that of the work done for a delta on either way, not of two servers with a machine each.',
      'Memory per stream: how far the resident memory grows at most, from what a few hundred chats have left, spread over the streams.',
    ],
  }
}

async function measure(
  load: Load,
  upstream: Upstream,
  server: ServerProcess,
  queries: readonly string[],
  { rounds, progress }: Bench,
) {
  const { intervalMs: interval } = load.pace
  const label = `${load.streams} streams, ${interval === 0 ? 'unpaced' : `a delta each ${interval} ms`}`
  const requestsTo = (url: string) =>
    Array.from({ length: load.streams }, (_, at) => {
      const content = queries[at % queries.length] ?? ''
      return prepare(url, KEY, { model: 'bench', messages: [{ role: 'user', content }] })
    })
  const direct = requestsTo(`${upstream.url}/chat/completions`)
  const chat = requestsTo(`${server.url}/chat`)
  progress(`${label}: warming up`)
  await upstream.pace(WARM_UP.pace)
  for (let sent = 0; sent < WARM_UP.chats; sent += WARM_UP.atOnce) {
    await Promise.all(chat.slice(0, WARM_UP.atOnce).map(stream))
  }
  await upstream.pace(load.pace)
  const found = await interleave(
    {
      direct: () => flood(direct, load, undefined),
      chat: () => flood(chat, load, server),
    },
    rounds,
    (message) => progress(`${label}: ${message}`),
  )
  return toRow(label, load, found)
}

async function flood(
  requests: readonly Prepared[],
  { pace }: Load,
  server: ServerProcess | undefined,
): Promise<Flood> {
  const before = (await server?.memory()) ?? 0
  let highest = before
  const sample = async () => {
    highest = Math.max(highest, (await server?.memory()) ?? 0)
  }
  const sampling = setInterval(() => void sample(), MEMORY_SAMPLE_MS)
  const ended = new AbortController()
  const probing = server ? probe(`${server.url}/health`, ended.signal) : []
  const started = performance.now()
  const answers = await Promise.all(requests.map(stream))
  const seconds = (performance.now() - started) / 1_000
  clearInterval(sampling)
  ended.abort()
  const deltas = answers.reduce((sum, answer) => sum + answer.deltas, 0)
  return {
    deltasPerSecond: deltas / seconds,
    gaps: answers.flatMap(({ gaps }) => gaps),
    firstDeltas: answers.map(({ firstDelta }) => firstDelta),
    lengths: answers.map(({ milliseconds, firstDelta }) => milliseconds - firstDelta),
    failed: answers.filter((answer) => !isWhole(answer, pace.deltas)).length,
    health: await probing,
    growth: highest - before,
  }
}

/** How long each answer takes, until the signal; for ever, where there is none within ten seconds. */
async function probe(url: string, until: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!until.aborted) {
    const started = performance.now()
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) })
      .then((response) => response.arrayBuffer())
      .catch(() => undefined)
    times.push(answer ? performance.now() - started : Number.POSITIVE_INFINITY)
    await pause(HEALTH_MS)
  }
  return times
}

function isWhole({ status, deltas, tail }: Streamed, expected: number): boolean {
  const ended = tail.includes('"finishReason":"stop"') || tail.includes('[DONE]')
  return status === 200 && deltas === expected && ended
}

function toRow(label: string, load: Load, found: Found<'direct' | 'chat', Flood>) {
  const [direct, chat] = [found('direct'), found('chat')]
  const ratios = chat.map(
    ({ deltasPerSecond }, run) => deltasPerSecond / (direct[run]?.deltasPerSecond ?? 0),
  )
  const gap = (floods: readonly Flood[], share: number) =>
    round(
      percentile(
        floods.flatMap(({ gaps }) => gaps),
        share,
      ),
      1,
    )
  const length = (floods: readonly Flood[]) =>
    round(median(floods.flatMap(({ lengths }) => lengths)) / 1_000)
  const health = chat.flatMap((flood) => flood.health)
  const failed = chat.reduce((sum, flood) => sum + flood.failed, 0)
  return {
    load: label,
    'deltas/s direct': round(median(direct.map((flood) => flood.deltasPerSecond))),
    'deltas/s /chat': round(median(chat.map((flood) => flood.deltasPerSecond))),
    ratio: show(spreadOf(ratios)),
    'first p50 ms': round(median(chat.flatMap((flood) => flood.firstDeltas)), 0),
    'gap p50/p99 ms direct': `${gap(direct, 0.5)} / ${gap(direct, 0.99)}`,
    'gap p50/p99 ms /chat': `${gap(chat, 0.5)} / ${gap(chat, 0.99)}`,
    'first delta to the end p50 s direct / chat': `${length(direct)} / ${length(chat)}`,
    '/health p50/p99 ms': `${round(percentile(health, 0.5), 0)} / ${round(percentile(health, 0.99), 0)}`,
    'kB/stream': round(Math.max(...chat.map(({ growth }) => growth)) / load.streams / 1_024, 0),
    'no error': verdict(failed === 0),
  }
}
