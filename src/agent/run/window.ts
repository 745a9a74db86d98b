import { startDeadline } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { ChatModel, PromptTooLong, Sampling } from '@agent-server/models'

/** How long a question waits until the model's server reports the size of its window. */
const LEARN_MS = 3_000
/** Reserved for estimation errors and for the tokens that a chat template adds. */
const MARGIN = 0.05
/** Share of the window kept free for the answer, and its maximum in tokens; a client's own limit counts instead. */
const ANSWER_SHARE = 0.25
const MAX_ANSWER = 8_192
/** A client's limit keeps at most this share free. */
const MAX_ANSWER_SHARE = 0.5

/** UTF-8 bytes per token before the model has reported any. Too few rather than too many: see `token-estimate.ts`. */
const FIRST_BYTES_PER_TOKEN = 3
const LEAST_BYTES_PER_TOKEN = 1
const MOST_BYTES_PER_TOKEN = 6
/** Fewer tokens say little about the ratio: most of them belong to the chat template. */
const MIN_TOKENS = 200
/** The size of the next attempt, as a share of the refused one, if the server does not report its window. */
const AFTER_REFUSAL = 0.5
/** The same for the bytes per token, if the server reports its window but not the size of the prompt. */
const WITHOUT_COUNT = 0.8

interface Dependencies {
  model: Pick<ChatModel, 'window' | 'learnWindow'>
  /** The window that is configured; the model's own counts if it is smaller. */
  contextTokens: number
  log: Pick<Log, 'warn'>
}

export type ModelWindow = ReturnType<typeof createWindow>

/**
 * The model's window: its size in tokens, and the tokens per byte of text, learned from the tokens that the model
 * reports for each prompt.
 */
export function createWindow({ model, contextTokens, log }: Dependencies) {
  let bytesPerToken = FIRST_BYTES_PER_TOKEN
  let refusedAbove = Number.POSITIVE_INFINITY
  let lastWarning = ''

  const size = () => Math.min(contextTokens, model.window ?? Number.POSITIVE_INFINITY, refusedAbove)
  const toTokens = (bytes: number) => Math.ceil(bytes / bytesPerToken)
  const setRatio = (ratio: number) => {
    bytesPerToken = Math.min(Math.max(ratio, LEAST_BYTES_PER_TOKEN), MOST_BYTES_PER_TOKEN)
  }

  return {
    /** In tokens. */
    size,
    toTokens,
    toBytes: (tokens: number): number => tokens * bytesPerToken,
    /** The tokens that a prompt may have, with its tools, so that there is room for the answer. */
    promptTokens({ maxTokens }: Pick<Sampling, 'maxTokens'> = {}): number {
      const window = size()
      const answer =
        maxTokens === undefined
          ? Math.min(window * ANSWER_SHARE, MAX_ANSWER)
          : Math.min(maxTokens, window * MAX_ANSWER_SHARE)
      return Math.floor(window * (1 - MARGIN) - answer)
    },
    /** Asks the model's server for the window, until that is known. Throws only the abort reason of `signal`. */
    async learn(signal: AbortSignal): Promise<void> {
      using deadline = startDeadline(LEARN_MS, signal)
      try {
        await model.learnWindow(deadline.signal)
      } catch {
        // Too late or down: the answer is attempted with the known size, and reports any failure.
        signal.throwIfAborted()
      }
    },
    /** Records the number of tokens of a prompt of this many bytes. */
    note(bytes: number, promptTokens: number): void {
      if (promptTokens >= MIN_TOKENS) setRatio((bytesPerToken + bytes / promptTokens) / 2)
    },
    /** Records a rejected prompt size and the limits that the error reported. */
    refused(bytes: number, { promptTokens, window }: PromptTooLong): void {
      if (promptTokens) setRatio(bytes / promptTokens)
      else if (window) setRatio(Math.min(bytesPerToken, bytes / window) * WITHOUT_COUNT)
      const fitting = (toTokens(bytes) * AFTER_REFUSAL) / (1 - MARGIN - ANSWER_SHARE)
      refusedAbove = Math.min(refusedAbove, window ?? Math.floor(fitting))
    },
    /** Logs, once, which tools the window leaves no room for. */
    warnAboutOmittedTools(leftOut: readonly string[]): void {
      const names = leftOut.join(', ')
      if (names === lastWarning) return
      lastWarning = names
      if (names === '') return
      const window = size()
      log.warn(
        { window, leftOut },
        `the model's window of ${window} tokens has no room for these tools: ${names}`,
      )
    },
  }
}
