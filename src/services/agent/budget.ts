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

export interface RunBudget {
  /** Aborted when no tool may run any more. */
  readonly toolTime: AbortSignal
  /** Aborted when the answer is cut. */
  readonly answerTime: AbortSignal
  /** Counts a model call. Answers the limit that makes it the last one, or nothing. */
  beginRound(): LimitName | undefined
  /** Counts the tokens of a model call that was sent so many bytes; estimates them where the model does not report its usage. */
  spend(answer: { text: string; usage: ModelUsage | undefined }, sentBytes: number): void
  /** Counts tokens that a tool took. */
  charge(usage: ModelUsage): void
  /** Takes tool calls; answers how many of them may run. */
  takeCalls(wanted: number): number
  /** Keeps in mind that a limit kept the run from something. */
  note(limit: LimitName): void
  reached(): LimitName[]
}

export function createRunBudget(limits: RunLimits): RunBudget {
  const toolTime = AbortSignal.timeout(limits.seconds * 1_000)
  const answerTime = AbortSignal.timeout((limits.seconds + ANSWER_SECONDS) * 1_000)
  const reached = new Set<LimitName>()
  let [rounds, calls, tokens] = [0, 0, 0]

  return {
    toolTime,
    answerTime,
    beginRound() {
      rounds += 1
      if (rounds >= limits.rounds) return 'rounds'
      if (calls >= limits.toolCalls) return 'toolCalls'
      if (tokens >= limits.tokens) return 'tokens'
      return toolTime.aborted ? 'seconds' : undefined
    },
    spend({ usage, text }, sentBytes) {
      tokens += usage
        ? usage.promptTokens + usage.completionTokens
        : Math.ceil((sentBytes + Buffer.byteLength(text)) / BYTES_PER_TOKEN)
    },
    charge({ promptTokens, completionTokens }) {
      tokens += promptTokens + completionTokens
    },
    takeCalls(wanted) {
      const taken = Math.min(wanted, limits.toolCalls - calls)
      calls += taken
      if (taken < wanted) reached.add('toolCalls')
      return taken
    },
    note: (limit) => void reached.add(limit),
    reached: () => [...reached],
  }
}

/** Adds up the tokens of all model calls of a run; nothing where no call reported any. */
export function createUsageSum() {
  let sum: Usage | undefined

  return {
    add(usage: ModelUsage | undefined) {
      if (!usage) return
      const promptTokens = (sum?.promptTokens ?? 0) + usage.promptTokens
      const completionTokens = (sum?.completionTokens ?? 0) + usage.completionTokens
      sum = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    },
    total: () => sum,
  }
}
