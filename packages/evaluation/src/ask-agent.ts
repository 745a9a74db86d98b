import { pause, startDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { askModel, type ChatModel } from '@agent-server/models'
import { within } from '@agent-server/schemas/collection.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { QueryRequest } from '@agent-server/schemas/query.ts'
import { type Agent, type DialectSettings, type Payment, RunCollector } from '@agent-server/wire'
import type { Answered } from './evaluate-answers.ts'
import { createJudge } from './judge.ts'
import type { AskedQuestion, Place } from './judged.ts'
import { TOP_K } from './measures.ts'
import type { NewEvaluationRun } from './schema.ts'

/** For one question, with what is tried again. */
const QUESTION_MS = 600_000
/** How long a busy part of the server is waited for. */
const RETRY_MS = 120_000
const RETRY_AFTER_SECONDS = 2
/** Ample for a verdict and some thinking before it. */
const VERDICT_TOKENS = 2_000
const VERDICT_CHARACTERS = 10_000
/** Statuses of errors that may pass by themselves. */
const PASSING: readonly number[] = [429, 503, 504]

/** The server whose search and answers are measured. */
export interface AskedServer {
  agent: Agent
  /** Searches what the caller may see. */
  search(
    query: Pick<QueryRequest, 'query' | 'topK' | 'mode' | 'effort' | 'filter'>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<{ hits: readonly Place[]; degraded: boolean }>
  dialects: Pick<DialectSettings, 'defaultTopK'>
  /** The chat model, which may judge answers. */
  judgeModel: Pick<ChatModel, 'name' | 'stream' | 'generates'>
  payment: Pick<Payment, 'meter'>
}

/** Asks the server's own search and agent, for a caller, as a run is set. */
export function createAgentAsking(
  { agent, search, dialects, judgeModel: model, payment }: AskedServer,
  { mode, effort, filter }: Pick<NewEvaluationRun, 'mode' | 'effort' | 'filter'>,
  caller: Caller,
  signal: AbortSignal,
) {
  const meter = payment.meter(caller)
  const scopeOf = ({ collection }: AskedQuestion) => {
    return { filter: within({ filter, collection }), mode, effort }
  }
  return {
    search: (question: AskedQuestion) =>
      patiently(caller, signal, (limit) => {
        const query = { query: question.text, topK: TOP_K, ...scopeOf(question) }
        return search(query, caller, limit)
      }),
    answer: (question: AskedQuestion): Promise<Answered> =>
      patiently(caller, signal, async (limit) => {
        const messages = [{ role: 'user' as const, content: question.text }]
        const request = {
          caller,
          messages,
          instructions: [],
          topK: dialects.defaultTopK,
          rewrite: true,
          ...scopeOf(question),
          sampling: {},
          clientTools: [],
        }
        const { text, end } = await RunCollector.of(agent.run(request, limit))
        const { hits, citations, abstained } = end
        return { text, hits, citations, abstained }
      }),
    judge: createJudge((rules, prompt) =>
      patiently(caller, signal, async (limit) => {
        const task = { rules, prompt, tokens: VERDICT_TOKENS, characters: VERDICT_CHARACTERS }
        return askModel({ model, meter }, task, limit)
      }),
    ),
  }
}

const TOO_SLOW = 'A question took longer than ten minutes'

/** A model that fails or breaks off may work again; one that refuses will do so each time. */
const isPassing = ({ status, code }: AppError) =>
  PASSING.includes(status) || code === 'upstream_failed'

/** Tries again for two minutes where a part of the server is busy or does not answer. */
async function patiently<Result>(
  caller: Caller,
  signal: AbortSignal,
  ask: (limit: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using limit = startDeadline(QUESTION_MS, signal)
  const started = performance.now()
  for (;;) {
    signal.throwIfAborted()
    await caller.verify()
    try {
      return await ask(limit.signal)
    } catch (error) {
      signal.throwIfAborted()
      if (limit.isOver) throw new AppError('upstream_timeout', TOO_SLOW, { cause: error })
      if (
        !(error instanceof AppError && isPassing(error)) ||
        performance.now() - started > RETRY_MS
      )
        throw error
      const { retryAfter = RETRY_AFTER_SECONDS } = error
      await pause(Math.min(retryAfter * 1_000, RETRY_MS), signal)
    }
  }
}
