import type { Usage as ModelUsage } from '../../models/chat-model.ts'
import type { Usage } from '../../schemas/chat.ts'

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
