import type { Bench, Findings } from './support/bench.ts'
import { type Prepared, prepare, stream } from './support/http-client.ts'
import { KEY, startServer } from './support/server-process.ts'
import { median, percentile, round, show, spreadOf } from './support/statistics.ts'
import { takeTurns } from './support/take-turns.ts'
import { modelAt, startUpstream } from './support/upstream-process.ts'

const RUNS_A_ROUND = 100
const CHUNKS = 1_000
/** Calls of the model in each run: one that calls semantic_search, and one that answers. */
const CALLS = 2
const PACE = { delayMs: 10, deltas: 20, intervalMs: 0 }

/** How much longer a run with one tool call takes than the same two calls made to the upstream directly. */
export async function agentLoop({ seeded, progress, rounds }: Bench): Promise<Findings> {
  const seed = await seeded.of(CHUNKS)
  const upstream = await startUpstream()
  await upstream.pace({ ...PACE, searches: seed.queries })
  const server = await startServer({
    directory: seed.directory,
    environment: modelAt(upstream.url),
  })
  const running = (url: string) => {
    const requests = seed.queries.map((content) => prepare(url, KEY, question(content)))
    return async (at: number) => answered(requests[at % requests.length])
  }
  const direct = `${upstream.url}/chat/completions`
  const [first, second] = [prepare(direct, KEY, question('')), prepare(direct, KEY, withResult())]
  const found = await takeTurns(
    {
      direct: async () => (await stream(first)).milliseconds + (await answered(second)),
      completions: running(`${server.url}/v1/chat/completions`),
      chat: running(`${server.url}/chat`),
    },
    { rounds, calls: RUNS_A_ROUND },
    progress,
  )
  const alone = found('direct')
  await server.stop()
  await upstream.stop()
  return {
    title: `A run with one call of semantic_search, ${seed.chunks} chunks`,
    rows: [
      toRow('the upstream itself, twice', alone, alone),
      toRow('/v1/chat/completions', found('completions'), alone),
      toRow('/chat', found('chat'), alone),
    ],
    notes: [
      `The upstream waits ${PACE.delayMs} ms before each of its two answers; one run at a time, each way in its turn, ${RUNS_A_ROUND} a round, ${rounds} rounds. Until the end of the answer; a call's part is half of what the run takes longer, with both searches and all passages in it.`,
    ],
  }
}

/** Milliseconds until the end. Throws if deltas are missing: the upstream sends none before the tool was called. */
async function answered(request: Prepared | undefined): Promise<number> {
  if (!request) throw new Error('There are no queries')
  const { status, deltas, milliseconds } = await stream(request)
  if (status === 200 && deltas === PACE.deltas) return milliseconds
  throw new Error(`${request.url} answered ${status} with ${deltas} deltas`)
}

function question(content: string) {
  return { model: 'bench', stream: true, messages: [{ role: 'user', content }] }
}

function withResult() {
  const { messages, ...rest } = question('')
  return { ...rest, messages: [...messages, { role: 'tool', content: '', tool_call_id: 'a' }] }
}

function toRow(name: string, times: readonly number[][], direct: readonly number[][]) {
  const medians = times.map(median)
  const added = medians.map((value, run) => value - median(direct[run] ?? []))
  const own = times === direct
  return {
    'asked at': name,
    'p50 ms': show(spreadOf(medians)),
    'p95 ms': round(percentile(times.flat(), 0.95)),
    'added at p50, ms': own ? '' : show(spreadOf(added)),
    'a call of the model, ms': own ? '' : show(spreadOf(added.map((value) => value / CALLS))),
  }
}
