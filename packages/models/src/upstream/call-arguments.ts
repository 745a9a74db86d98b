import { isJsonObject } from '@agent-server/lib/text/json.ts'

/**
 * The arguments of a call with what came next of them. Some servers send with each delta all that they have written so
 * far, or at the end the whole once more. Such a repetition begins as JSON does, and is never much shorter than what it
 * repeats; so only for a long one is all of the rest looked at. A `{` alone may also go on after `:`, `[` or `,`.
 */
export function withMoreArguments(written: string, more: string): string {
  const mayRepeat = more.startsWith('{') && 2 * more.length >= written.length
  if (!(mayRepeat && written.startsWith('{'))) return written + more
  const isAgain = more.startsWith(written) || isWhole(written)
  return isAgain ? more : written + more
}

/** Asks first what is cheap, as it is asked for the deltas of long arguments. */
const isWhole = (written: string) => written.trimEnd().endsWith('}') && isJsonObject(written)
