import { EmbedderError } from '../embedder.ts'
import type { EmbeddingCalls } from './embedding-calls.ts'
import { isTooLong, mayBeOfText, toEmbedderError } from './embedding-failure.ts'
import type { Explaining } from './explain-failure.ts'
import { toUpstreamFailure, type UpstreamFailure } from './upstream-failure.ts'

/** How often a text that is too long for the model is cut in half. */
const MOST_CUTS = 8
/** Any model embeds this; one that refuses it does not work at all. */
const PLAIN_TEXT = 'text'

type Result = Float32Array<ArrayBuffer> | EmbedderError

export interface EmbedEach {
  /** A vector or an error per text: one that the model refuses fails alone. Throws only what `signal` was aborted with. */
  all(texts: readonly string[], signal: AbortSignal): Promise<Result[]>
  one(text: string, signal: AbortSignal): Promise<Result>
}

/** Finds out which text is at fault when a call fails, and shortens those that are too long. */
export function createEmbedEach(call: EmbeddingCalls['call'], explaining: Explaining): EmbedEach {
  const told = (kind: EmbedderError['kind'], failure: UpstreamFailure) =>
    toEmbedderError(kind, failure, explaining)

  const attempt = async (texts: readonly string[], signal: AbortSignal) => {
    try {
      return await call(texts, signal)
    } catch (error) {
      signal.throwIfAborted()
      return error instanceof EmbedderError ? error : toUpstreamFailure(error)
    }
  }

  /** The text's own fault, unless the model does not even embed a plain one. */
  const blame = async (failure: UpstreamFailure, signal: AbortSignal) => {
    const works = mayBeOfText(failure) && Array.isArray(await attempt([PLAIN_TEXT], signal))
    return told(works ? 'refused' : 'unavailable', failure)
  }

  const one = async (text: string, signal: AbortSignal, cuts = 0): Promise<Result> => {
    const outcome = await attempt([text], signal)
    if (outcome instanceof EmbedderError) return outcome
    if (Array.isArray(outcome)) return outcome[0] ?? new EmbedderError('unavailable', 'No vector')
    if (!isTooLong(outcome) || cuts === MOST_CUTS) return blame(outcome, signal)
    return one(firstHalf(text), signal, cuts + 1)
  }

  const inTurn = async (texts: readonly string[], signal: AbortSignal): Promise<Result[]> => {
    const results: Result[] = []
    for (const text of texts) {
      const last = results.at(-1)
      const isDown = last instanceof EmbedderError && last.kind !== 'refused'
      results.push(isDown ? last : await one(text, signal))
    }
    return results
  }

  return {
    one,
    async all(texts, signal) {
      if (texts.length === 1) return inTurn(texts, signal)
      const outcome = await attempt(texts, signal)
      if (Array.isArray(outcome)) return outcome
      if (outcome instanceof EmbedderError) return texts.map(() => outcome)
      if (mayBeOfText(outcome)) return inTurn(texts, signal)
      const error = told('unavailable', outcome)
      return texts.map(() => error)
    },
  }
}

/** Never half a character. */
function firstHalf(text: string): string {
  const middle = Math.ceil(text.length / 2)
  const splits = /[\uD800-\uDBFF]/.test(text.charAt(middle - 1))
  return text.slice(0, splits ? middle - 1 : middle)
}
