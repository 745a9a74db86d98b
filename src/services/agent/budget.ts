import { startDeadline } from '../../lib/abort.ts'
import type { ModelUsage } from '../../models/chat-model.ts'
import { BYTES_PER_TOKEN } from '../../models/token-estimate.ts'
import type { RunFinishReason, Usage } from '../../schemas/chat.ts'
import type { LimitName } from '../../schemas/fields.ts'

/** What one run may use up. */
export interface RunLimits {
  /** Model calls; in the last of them tools may not be called, so that it answers. */
  rounds: number
  toolCalls: number
  /** From then on no tool runs, and the model is to answer. */
  seconds: number
  /** Of all model calls, sent and received; the last call may go past it. */
  tokens: number
}

/** How long the answer may take once `seconds` are over. */
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

/** Keeps account of what one run has used up; its times are over, too, when `signal` is aborted. To be disposed of. */
export function createRunBudget(limits: RunLimits, signal?: AbortSignal, before?: Spent) {
  const toolTime = startDeadline(limits.seconds * 1_000, signal)
  const answerTime = startDeadline((limits.seconds + ANSWER_SECONDS) * 1_000, signal)
  const reached = new Set<LimitName>()
  let { rounds, calls, tokens, usage }: Spent = before ?? { rounds: 0, calls: 0, tokens: 0 }

  return {
    /** Over when no tool may run any more. */
    toolTime,
    /** Over when the answer is cut. */
    answerTime,
    /** Counts a model call. Answers the limit that makes it the last one, or nothing. */
    beginRound(): LimitName | undefined {
      rounds += 1
      if (rounds >= limits.rounds) return 'rounds'
      if (calls >= limits.toolCalls) return 'toolCalls'
      if (tokens >= limits.tokens) return 'tokens'
      return toolTime.isOver ? 'seconds' : undefined
    },
    /** Counts the tokens of a model call: as it reports them, else by the bytes that were sent and received. */
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
    /** Takes tool calls; answers how many of them may run. */
    takeCalls(wanted: number): number {
      const taken = Math.min(wanted, limits.toolCalls - calls)
      calls += taken
      if (taken < wanted) reached.add('toolCalls')
      return taken
    },
    /** Notes that a limit kept the run from something. */
    note: (limit: LimitName) => void reached.add(limit),
    reached: () => [...reached],
    /** The tokens that model calls have reported; nothing where none did. */
    usage: () => usage,
    spent: (): Spent => ({ rounds, calls, tokens, usage }),
    [Symbol.dispose]() {
      toolTime[Symbol.dispose]()
      answerTime[Symbol.dispose]()
    },
  }
}
