import type { SearchStep } from '@agent-server/schemas/query.ts'
import { type AgentEvent, type AgentRequest, visibilityOf } from '@agent-server/wire'
import type { Retrieval } from '../../retrieval/search.ts'
import { correctText } from '../../retrieval/spelling.ts'
import type { RunBudget } from './budget.ts'
import { searchByEffort } from './search-by-effort.ts'
import { toQuery } from './standalone-question.ts'

type QueryParts = Parameters<typeof toQuery>[1]

interface Dependencies extends Pick<QueryParts, 'model' | 'isStopWord'> {
  retrieval: Pick<Retrieval, 'search'>
}

/** Finds the chunks for the question of a run; yields the steps of the search. */
export async function* findChunks(
  { retrieval, ...parts }: Dependencies,
  request: AgentRequest,
  asking: Pick<QueryParts, 'promptFor'> & Pick<RunBudget, 'meter'>,
  signal: AbortSignal,
) {
  const { topK, effort = 'low' } = request
  const query = await toQuery(request, { ...parts, ...asking }, signal)
  const { meter } = asking
  const search = { ...query, ...scopeOf(request), topK, explain: true, meter }
  const means = { ...parts, retrieval, meter }
  const steps = searchByEffort(means, search, topK > 0 ? effort : 'low', signal)
  const { hits, corrections, degraded } = yield* eachStep(steps)
  const corrected = correctText(query.query, corrections)
  const isChanged = query.isRewritten || corrected !== query.query
  const searchedFor = isChanged ? corrected : undefined
  return { query: query.query, hits, corrections, degraded, searchedFor }
}

/** Yields the steps as events. */
async function* eachStep<Result>(
  steps: AsyncGenerator<SearchStep, Result>,
): AsyncGenerator<AgentEvent[], Result> {
  for (;;) {
    const { done, value } = await steps.next()
    if (done) return value
    yield [{ type: 'search-step', step: value }]
  }
}

/** What every search of a run has in common. */
export function scopeOf(request: AgentRequest) {
  const { mode, minScore } = request
  return { visibility: visibilityOf(request), mode, minScore }
}
