import { createDeadline } from '@agent-server/lib/abort.ts'
import {
  BYTES_PER_TOKEN,
  type EndedCall,
  type Meter,
  type ModelUsage,
  telling,
  UNMETERED,
  usageOf,
} from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type { LimitName } from '@agent-server/schemas/fields.ts'
import type { Usage } from '@agent-server/schemas/query.ts'

export interface RunLimits {
  /** Maximum number of model calls; in the last one no tools may be called, so that the model answers. */
  rounds: number
  toolCalls: number
  /** Time, from the model's first sign of life, after which no tool runs and the model must answer. */
  seconds: number
  /** Maximum tokens of all model calls, sent and received; the last call may exceed it. */
  tokens: number
}

/** An answer that has stood still for `seconds` and these is cut off; one that still grows is not. */
const ANSWER_SECONDS = 60

export const LIMIT_REASONS = {
  rounds: 'round_limit',
  toolCalls: 'call_limit',
  seconds: 'time_limit',
  tokens: 'token_limit',
} as const satisfies Record<LimitName, RunFinishReason>

/** What a run had used up when it was paused. */
export interface Spent {
  rounds: number
  calls: number
  tokens: number
  usage?: Usage | undefined
}

export type RunBudget = ReturnType<typeof createRunBudget>

interface BudgetParts {
  signal?: AbortSignal
  /** What was used before a pause. */
  carriedOver?: Spent | undefined
  /** Whoever pays for the run. */
  payer?: Meter
}

/**
 * Tracks the consumption of a run. Aborting `signal` also ends its deadlines. Must be disposed of. The time in which a
 * slow machine loads the model, or reads the prompt without reporting it, does not count.
 */
export function createRunBudget(
  limits: RunLimits,
  { signal, carriedOver, payer = UNMETERED }: BudgetParts = {},
) {
  const toolTime = createDeadline(limits.seconds * 1_000, signal)
  const answerTime = createDeadline((limits.seconds + ANSWER_SECONDS) * 1_000, signal)
  const reached = new Set<LimitName>()
  let { rounds, calls, tokens, usage }: Spent = carriedOver ?? { rounds: 0, calls: 0, tokens: 0 }
  let hasBegun = false
  /** Bytes of the present answer. */
  let received = 0

  const beginTime = () => {
    if (!hasBegun) toolTime.renew()
    hasBegun = true
  }
  const spend = (call: EndedCall) => {
    const { promptTokens, completionTokens } = usageOf(call)
    tokens += promptTokens + completionTokens
    if (call.usage) usage = withMore(usage, call.usage)
  }
  // Approved tool calls run before the next call of the model.
  if (carriedOver) beginTime()

  return {
    toolTime,
    /** Deadline after which the answer is cut off. */
    answerTime,
    /** Counts a model call; returns the limit that makes it the last one, if any. */
    beginRound(): LimitName | undefined {
      rounds += 1
      received = 0
      if (rounds >= limits.rounds) return 'rounds'
      if (calls >= limits.toolCalls) return 'toolCalls'
      if (tokens >= limits.tokens) return 'tokens'
      return toolTime.isOver ? 'seconds' : undefined
    },
    /** To be called with the bytes of text in each batch of the model's events: what moves is not cut off. */
    onOutput(bytes: number): void {
      beginTime()
      received += bytes
      // Some models write without end.
      if (tokens + received / BYTES_PER_TOKEN < limits.tokens) answerTime.renew()
    },
    /** Counts the calls of the run, for its limits and for whoever pays. */
    meter: telling(payer, spend),
    /** Counts tool calls; returns how many of them may run. */
    takeCalls(count: number): number {
      const allowed = Math.min(count, limits.toolCalls - calls)
      calls += allowed
      if (allowed < count) reached.add('toolCalls')
      return allowed
    },
    /** Records that a limit restricted the run. */
    note: (limit: LimitName) => void reached.add(limit),
    reached: () => [...reached],
    /** The tokens reported by model calls; undefined if none reported any. */
    usage: () => usage,
    spent: (): Spent => ({ rounds, calls, tokens, usage }),
    [Symbol.dispose]() {
      toolTime[Symbol.dispose]()
      answerTime[Symbol.dispose]()
    },
  }
}

function withMore(usage: Usage | undefined, more: ModelUsage): Usage {
  const promptTokens = (usage?.promptTokens ?? 0) + more.promptTokens
  const completionTokens = (usage?.completionTokens ?? 0) + more.completionTokens
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: sum(usage?.cachedTokens, more.cachedTokens),
    cacheWriteTokens: sum(usage?.cacheWriteTokens, more.cacheWriteTokens),
    reasoningTokens: sum(usage?.reasoningTokens, more.reasoningTokens),
  }
}

/** The sum of two counts, of which either may be unknown. */
function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
