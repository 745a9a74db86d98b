import type { ModelUsage } from './chat-model.ts'
import { BYTES_PER_TOKEN } from './token-estimate.ts'

/** A call of a model that is about to begin. */
export interface BegunCall {
  model: string
  /** Size of the prompt, in UTF-8. */
  sentBytes: number
  /** What its answer may have at most, if that is known. */
  maxTokens?: number | undefined
}

export interface EndedCall {
  /** As the model's server reports it. */
  usage?: ModelUsage | undefined
  sentBytes: number
  receivedBytes: number
}

/** Called once for each call that began, with nothing if the model has done nothing for it. */
export type EndCall = (call?: EndedCall) => Promise<void>

/** Counts calls of models for whoever pays for them. */
export interface Meter {
  /**
   * Before a call: holds what it may use. Throws AppError `rate_limited` if nothing is left. With a signal, first waits
   * a while for calls in progress that may leave some; without one, the call is refused at once.
   */
  begin(call: BegunCall, signal?: AbortSignal): Promise<EndCall>
}

export const UNMETERED: Meter = { begin: async () => async () => undefined }

/** More than any window holds: what a server reports beyond it is no count. */
const MAX_TOKENS = 100_000_000

/** The tokens of a call: those that are reported, as whole numbers, or else an estimate. */
export function usageOf({ usage, sentBytes, receivedBytes }: EndedCall): ModelUsage {
  if (usage) {
    const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
    return {
      ...usage,
      promptTokens: toCount(promptTokens),
      completionTokens: toCount(completionTokens),
      cachedTokens: toCount(cachedTokens),
      cacheWriteTokens: toCount(cacheWriteTokens),
    }
  }
  return {
    promptTokens: Math.ceil(sentBytes / BYTES_PER_TOKEN),
    completionTokens: Math.ceil(receivedBytes / BYTES_PER_TOKEN),
  }
}

function toCount(reported: number): number {
  return Math.min(MAX_TOKENS, Math.max(0, Math.round(reported) || 0))
}

/** A meter that also reports each call that the model has answered. */
export function telling(meter: Meter, onCall: (call: EndedCall) => void): Meter {
  return {
    async begin(begun, signal) {
      const end = await meter.begin(begun, signal)
      return (call) => {
        if (call) onCall(call)
        return end(call)
      }
    },
  }
}
