import { type ChatModel, UNMETERED } from '@agent-server/models'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import {
  type Correction,
  checkEffort,
  type Effort,
  type Hit,
  type SearchStep,
  type Usage,
} from '@agent-server/schemas/query.ts'
import type { Payment } from '@agent-server/wire'
import type { CallerSearch, Retrieval } from '../../retrieval/search.ts'
import { createRunBudget, type RunLimits } from './budget.ts'
import type { RunLimiter } from './run-limiter.ts'
import { searchByEffort } from './search-by-effort.ts'

export interface Query extends CallerSearch {
  effort?: Effort | undefined
}

interface Dependencies {
  model: ChatModel
  isStopWord: (word: string) => boolean
  limits: RunLimits
  limiter: RunLimiter
  caller: Caller
  /** The agent's name. */
  name: string
  payment: Payment
  /** The documents that the caller may search. */
  retrieval: Retrieval<CallerSearch>
}

export interface QueryAnswer {
  hits: Hit[]
  corrections: Correction[]
  degraded: boolean
  /** What was done; absent for a single search. */
  steps?: SearchStep[] | undefined
  /** Absent if no model was called, or it does not report it. */
  usage?: Usage | undefined
}

/**
 * Searches without answering. A search that asks the model is a run like a chat, and its tokens are those of the key.
 */
export async function answerQuery(
  { name, model, isStopWord, limits, limiter, caller, payment, retrieval }: Dependencies,
  { effort = 'low', ...query }: Query,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const means = { model, isStopWord, retrieval }
  if (effort === 'low' && !retrieval.asksModel)
    return answerOf(searchByEffort({ ...means, meter: UNMETERED }, query, effort, signal))
  checkEffort(effort, model)
  await payment.check(caller)
  let slot: ReturnType<RunLimiter['acquire']> | undefined
  using budget = createRunBudget(limits, { signal, payer: payment.meter(caller, name) })
  try {
    slot = limiter.acquire(shareOf(caller))
    const { meter } = budget
    const search = searchByEffort({ ...means, meter }, { ...query, meter }, effort, signal)
    const answer = await answerOf(search)
    slot.end('stop')
    return { ...answer, usage: budget.usage() }
  } catch (error) {
    slot?.fail(error, signal)
    throw error
  } finally {
    slot?.release(budget.usage())
  }
}

async function answerOf(search: ReturnType<typeof searchByEffort>): Promise<QueryAnswer> {
  const steps: SearchStep[] = []
  for (;;) {
    const { done, value } = await search.next()
    if (done) return { ...value, ...(steps.length > 0 && { steps }) }
    steps.push(value)
  }
}
