import type { AgentServer, Hit } from '../../client/src/agent-server.ts'
import type { SearchMode } from '../../src/schemas/query.ts'
import {
  DEPTH,
  type Measures,
  mean,
  measure,
  percentile,
  TOP_K,
} from '../../ui/search/evaluation.ts'
import { type Collection, isHeldOut, type JudgedQuestion } from './collection.ts'
import type { Measured } from './report.ts'

export interface Asking {
  client: AgentServer
  /** The collection's id of each document by the server's; documents that the server had before are not among them. */
  ids: ReadonlyMap<string, string>
  progress: (done: string) => void
}

interface Options extends Asking {
  mode: SearchMode | undefined
  graded: boolean
}

export interface Evaluation extends Measures {
  queries: number
  /** The same for the half of the questions that nothing is chosen on. */
  heldOut: Measures & { queries: number }
  kinds: Record<string, { queries: number; mrr: number }>
  /** Milliseconds per query over HTTP, one query at a time. */
  latency: { p50: number; p95: number }
  /** Queries answered without a model that was due, which says little about the search. */
  degraded: number
  asked: readonly Measured[]
}

/** Asks the judged questions of a collection, and measures what is found. */
export async function evaluateSearch(
  { questions }: Pick<Collection, 'questions'>,
  options: Options,
): Promise<Evaluation> {
  const judged = questions.filter(({ relevant }) => relevant.size > 0)
  const results: (Awaited<ReturnType<typeof ask>> & { question: JudgedQuestion })[] = []
  for (const question of judged) {
    results.push({ question, ...(await ask(question, options)) })
    options.progress(`${results.length} of ${judged.length} queries asked`)
  }
  const latencies = results.map(({ milliseconds }) => milliseconds)
  const kinds = Map.groupBy(
    results.filter(({ question }) => question.kind !== undefined),
    ({ question }) => question.kind ?? '',
  )
  return {
    ...summaryOf(results),
    heldOut: summaryOf(results.filter(({ question }) => isHeldOut(question))),
    kinds: Object.fromEntries(
      Array.from(kinds, ([kind, own]) => {
        const { queries, mrr } = summaryOf(own)
        return [kind, { queries, mrr }]
      }),
    ),
    latency: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
    degraded: results.filter(({ degraded }) => degraded).length,
    asked: results.map(({ question: { id, text }, mrr }) => ({ id, text, values: { mrr } })),
  }
}

function summaryOf(results: readonly Measures[]) {
  return {
    queries: results.length,
    ndcg: mean(results.map(({ ndcg }) => ndcg)),
    recall: mean(results.map(({ recall }) => recall)),
    mrr: mean(results.map(({ mrr }) => mrr)),
  }
}

async function ask(
  { text, relevant, collection, byPage = false }: JudgedQuestion,
  { client, ids, mode, graded }: Options,
) {
  const started = performance.now()
  const { hits, degraded = false } = await client.query({
    query: text,
    topK: TOP_K,
    ...(mode && { mode }),
    ...(collection !== undefined && { collection }),
  })
  const milliseconds = performance.now() - started
  const found = hits.flatMap((hit) => namesOf(hit, ids, byPage))
  const ranking = [...new Set(found)].slice(0, DEPTH)
  return { milliseconds, degraded, ...measure(ranking, { relevant, graded }) }
}

/** What a hit is called in the judgements: its document, or the pages that it is on. */
export function namesOf(
  { documentId, page = 0, pageEnd = page }: Hit,
  ids: Asking['ids'],
  byPage: boolean,
): string[] {
  const id = ids.get(documentId) ?? documentId
  if (!byPage) return [id]
  return Array.from({ length: pageEnd - page + 1 }, (_, place) => `${id}#${page + place}`)
}
