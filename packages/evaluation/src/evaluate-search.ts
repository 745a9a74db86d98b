import { type AskedQuestion, isHeldOut, namesOf, type Place, type Progress } from './judged.ts'
import { DEPTH, type Measures, mean, measure, percentile } from './measures.ts'
import { type Row, rowOf } from './report.ts'

interface Options {
  /** Searches for `TOP_K` passages. */
  ask(question: AskedQuestion): Promise<{ hits: readonly Place[]; degraded?: boolean | undefined }>
  graded: boolean
  progress: Progress
}

export const isSearched = ({ relevant }: AskedQuestion): boolean => relevant.size > 0

/** Asks the questions whose documents are known, and measures what is found. */
export async function evaluateSearch(questions: readonly AskedQuestion[], options: Options) {
  const judged = questions.filter(isSearched)
  const results: Awaited<ReturnType<typeof outcomeOf>>[] = []
  for (const question of judged) {
    results.push(await outcomeOf(question, options))
    options.progress(results.length, judged.length)
  }
  const latencies = results.map(({ milliseconds }) => milliseconds)
  const kinds = Map.groupBy(
    results.filter(({ question }) => question.kind !== undefined),
    ({ question }) => question.kind ?? '',
  )
  return {
    ...summaryOf(results),
    // The half of the questions that nothing is chosen on.
    heldOut: summaryOf(results.filter(({ question }) => isHeldOut(question))),
    kinds: Object.fromEntries(
      Array.from(kinds, ([kind, own]) => {
        const { queries, mrr } = summaryOf(own)
        return [kind, { queries, mrr }]
      }),
    ),
    // Milliseconds per query, one query at a time.
    latency: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
    // Queries answered without a model that was due, which says little about the search.
    degraded: results.filter(({ degraded }) => degraded).length,
    asked: results.map(({ question: { id, text }, mrr }) => ({ id, text, values: { mrr } })),
  }
}

async function outcomeOf(question: AskedQuestion, { ask, graded }: Options) {
  const started = performance.now()
  const { hits, degraded = false } = await ask(question)
  const milliseconds = performance.now() - started
  const names = hits.flatMap((hit) => namesOf(hit, question))
  const ranking = [...new Set(names)].slice(0, DEPTH)
  const measures = measure(ranking, { relevant: question.relevant, graded })
  return { question, milliseconds, degraded, ...measures }
}

function summaryOf(results: readonly Measures[]) {
  return {
    queries: results.length,
    ndcg: mean(results.map(({ ndcg }) => ndcg)),
    recall: mean(results.map(({ recall }) => recall)),
    mrr: mean(results.map(({ mrr }) => mrr)),
  }
}

type SearchEvaluation = Awaited<ReturnType<typeof evaluateSearch>>

export function searchRow({ asked, ...measured }: SearchEvaluation): Row {
  const { queries, degraded, ndcg, recall, mrr, heldOut, kinds, latency } = measured
  const measures = {
    queries,
    degraded,
    'nDCG@10': ndcg,
    'recall@10': recall,
    'MRR@10': mrr,
    'held out: nDCG@10': heldOut.ndcg,
    'held out: MRR@10': heldOut.mrr,
    ...Object.fromEntries(Object.entries(kinds).map(([kind, own]) => [`${kind}: MRR@10`, own.mrr])),
    'p50 ms': latency.p50,
    'p95 ms': latency.p95,
  }
  return rowOf(measures, asked)
}
