import { startDeadline } from '../../lib/abort.ts'
import type { ModelUsage } from '../../models/chat-model.ts'
import { BYTES_PER_TOKEN } from '../../models/token-estimate.ts'
import type { RunFinishReason, Usage } from '../../schemas/chat.ts'
import type { LimitName } from '../../schemas/fields.ts'

/** Limits of one run. */
export interface RunLimits {
  /** Maximum number of model calls; in the last one no tools may be called, so that the model answers. */
  rounds: number
  toolCalls: number
  /** Time after which no tool runs and the model must answer. */
  seconds: number
  /** Maximum tokens of all model calls, sent and received; the last call may exceed it. */
  tokens: number
}

/** Extra time for the answer after `seconds` have passed. */
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

/** Tracks what a run uses up. Aborting `signal` also ends its deadlines. Must be disposed of. */
export function createRunBudget(limits: RunLimits, signal?: AbortSignal, before?: Spent) {
  const toolTime = startDeadline(limits.seconds * 1_000, signal)
  const answerTime = startDeadline((limits.seconds + ANSWER_SECONDS) * 1_000, signal)
  const reached = new Set<LimitName>()
  let { rounds, calls, tokens, usage }: Spent = before ?? { rounds: 0, calls: 0, tokens: 0 }

  return {
    /** Deadline for tools. */
    toolTime,
    /** Deadline after which the answer is cut off. */
    answerTime,
    /** Counts a model call; returns the limit that makes it the last one, if any. */
    beginRound(): LimitName | undefined {
      rounds += 1
      if (rounds >= limits.rounds) return 'rounds'
      if (calls >= limits.toolCalls) return 'toolCalls'
      if (tokens >= limits.tokens) return 'tokens'
      return toolTime.isOver ? 'seconds' : undefined
    },
    /** Counts the tokens of a model call: those reported, or else an estimate from the bytes sent and received. */
    spend(used: ModelUsage | undefined, bytes = 0): void {
      if (!used) {
        tokens += Math.ceil(bytes / BYTES_PER_TOKEN)
        return
      }
      const promptTokens = (usage?.promptTokens ?? 0) + used.promptTokens
      const completionTokens = (usage?.completionTokens ?? 0) + used.completionTokens
      usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
      tokens += used.promptTokens + used.completionTokens
    },
    /** Counts tool calls; returns how many of them may run. */
    takeCalls(wanted: number): number {
      const taken = Math.min(wanted, limits.toolCalls - calls)
      calls += taken
      if (taken < wanted) reached.add('toolCalls')
      return taken
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
