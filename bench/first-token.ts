import { type Bench, type Findings, verdict } from './support/bench.ts'
import { prepare, stream } from './support/http-client.ts'
import { KEY, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'
import { takeTurns } from './support/take-turns.ts'
import { modelAt, startUpstream } from './support/upstream-process.ts'

const REQUESTS_A_ROUND = 100
/** V8 has compiled nearly all of a chat's code after some 800 chats: two ways through the server, this many each. */
const WARM_UP = 400
const CHUNKS = { byWords: 10_000, withVectors: 1_000 }
const GOAL_MS = { byWords: 4, withVectors: 8 }
const PACE = { delayMs: 10, deltas: 20, intervalMs: 0 }

/** How much later the first delta arrives through the server than from the upstream directly. */
export async function firstToken({ seeded, embedder, progress, rounds }: Bench): Promise<Findings> {
  const seed = await seeded.of(embedder ? CHUNKS.withVectors : CHUNKS.byWords, embedder)
  const upstream = await startUpstream()
  await upstream.pace(PACE)
  const server = await startServer({
    directory: seed.directory,
    environment: { ...modelAt(upstream.url), ...(embedder && { EMBEDDING_MODEL: embedder }) },
  })
  const asking = (url: string) => {
    const requests = seed.queries.map((content) => prepare(url, KEY, question(content)))
    return async (at: number) => {
      const request = requests[at % requests.length]
      if (!request) throw new Error('There are no queries')
      const { status, firstDelta, deltas } = await stream(request)
      if (status !== 200 || deltas !== PACE.deltas) throw new Error(`${url} answered ${status}`)
      return firstDelta
    }
  }
  const found = await takeTurns(
    {
      direct: asking(`${upstream.url}/chat/completions`),
      completions: asking(`${server.url}/v1/chat/completions`),
      chat: asking(`${server.url}/chat`),
    },
    { rounds, calls: REQUESTS_A_ROUND, warmUp: WARM_UP },
    progress,
  )
  const direct = found('direct')
  const goal = embedder ? GOAL_MS.withVectors : GOAL_MS.byWords
  await server.stop()
  await upstream.stop()
  return {
    title: `Time to the first token, ${seed.chunks} chunks, ${embedder ? `vectors of ${embedder}` : 'by words'}`,
    rows: [
      toRow('the upstream itself', direct, direct, goal),
      toRow('/v1/chat/completions', found('completions'), direct, goal),
      toRow('/chat', found('chat'), direct, goal),
    ],
    notes: [
      `The upstream waits ${PACE.delayMs} ms; one request at a time, each way in its turn, ${REQUESTS_A_ROUND} a round, ${rounds} rounds, after ${WARM_UP} that only warm up.`,
    ],
  }
}

function question(content: string) {
  return { model: 'bench', stream: true, messages: [{ role: 'user', content }] }
}

function toRow(
  name: string,
  times: readonly number[][],
  direct: readonly number[][],
  goal: number,
) {
  const medians = times.map(median)
  const added = spreadOf(medians.map((value, run) => value - median(direct[run] ?? [])))
  const own = times === direct
  return {
    'asked at': name,
    'p50 ms': show(spreadOf(medians)),
    'p95 ms': round(percentile(times.flat(), 0.95)),
    'added at p50, ms': own ? '' : show(added),
    [`≤ ${goal} ms`]: own ? '' : verdict(added.median <= goal),
  }
}
