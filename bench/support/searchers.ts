import type { Bench, Findings } from './bench.ts'
import { interleave } from './interleave.ts'
import { processorMs } from './processor-time.ts'
import { residentBytes } from './server-process.ts'
import { median, percentile, round, show, spreadOf } from './statistics.ts'
import { takeTurns, timed } from './take-turns.ts'

const CALLS = 200
/** Calls per round with concurrent requests: enough that code yet to be compiled hardly counts. */
export const CROWDED_CALLS = 1_000
const AT_ONCE = 16

/** Answers questions; `pid` is the process whose memory and processor time are measured. */
export interface Searcher {
  ask(question: string): Promise<unknown>
  pid: number
}

/** Measures all searchers in turn: first one question at a time, then many at once. */
export async function measureSearchers(
  searchers: Record<string, Searcher>,
  questions: readonly string[],
  { rounds, progress }: Bench,
): Promise<Findings['rows']> {
  const names = Object.keys(searchers)
  const question = (at: number) => questions[at % questions.length] ?? ''
  const calls = names.map((name) => [
    name,
    (at: number) => timed(async () => searchers[name]?.ask(question(at))),
  ])
  const alone = await takeTurns(Object.fromEntries(calls), { rounds, calls: CALLS }, progress)
  const floods = names.map((name) => [name, () => flood(searchers[name], questions)])
  const together = await interleave<string, Flood>(Object.fromEntries(floods), rounds, progress)
  return Promise.all(
    names.map(async (name) => ({
      server: name,
      'p50 ms': show(spreadOf(alone(name).map((times) => median(times)))),
      'p95 ms': round(percentile(alone(name).flat(), 0.95)),
      [`queries/s, ${AT_ONCE} at once`]: show(
        spreadOf(together(name).map(({ perSecond }) => perSecond)),
        0,
      ),
      'processor ms a query': round(median(together(name).map(({ work }) => work))),
      'MB of memory': round((await residentBytes(searchers[name]?.pid ?? 0)) / 2 ** 20, 0),
    })),
  )
}

interface Flood {
  perSecond: number
  /** Milliseconds of processor time that the server spent per question. */
  work: number
}

async function flood(searcher: Searcher | undefined, questions: readonly string[]): Promise<Flood> {
  if (!searcher) throw new Error('There is nobody to ask')
  const waiting = questions.values()
  const before = await processorMs(searcher.pid)
  const askAll = async () => {
    for (const question of waiting) await searcher.ask(question)
  }
  const milliseconds = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, askAll)))
  const work = ((await processorMs(searcher.pid)) - before) / questions.length
  return { perSecond: (questions.length / milliseconds) * 1e3, work }
}
