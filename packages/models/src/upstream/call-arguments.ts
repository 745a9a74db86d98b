import { isJsonObject } from '@agent-server/lib/text/json.ts'

/**
 * The arguments of a call with what came next of them. Some servers send with each delta all that they have written so
 * far, or at the end the whole once more: JSON cannot go on with what it began with.
 */
export function withMoreArguments(written: string, more: string): string {
  if (!(written.startsWith('{') && more.startsWith('{'))) return written + more
  const isAgain = more.startsWith(written) || isWhole(written)
  return isAgain ? more : written + more
}

/** Asks first what is cheap, as it is asked for the deltas of long arguments. */
const isWhole = (written: string) => written.trimEnd().endsWith('}') && isJsonObject(written)
