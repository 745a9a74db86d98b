import { retryAfterOf } from '@agent-server/lib/backoff.ts'
import { type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'

/** How long the server asks to wait, in milliseconds: in a header, in a field of its error, or in words alone. */
export function retryAfterIn(
  headers: Headers,
  error: JsonObject,
  words: string,
): number | undefined {
  return retryAfterOf(headers) ?? waitIn(error, words) ?? resetOf(headers)
}

/** The wait that an error tells without headers. */
export function waitIn(
  { details, retry_after, retry_after_ms, retryAfter = retry_after, metadata }: JsonObject,
  words: string,
): number | undefined {
  if (typeof retry_after_ms === 'number') return retry_after_ms
  if (typeof retryAfter === 'number') return retryAfter * 1_000
  // Gemini: {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
  const delays = (Array.isArray(details) ? details : []).map((each) => objectOf(each).retryDelay)
  // "Please retry in 17.3s", "Please try again in 1m0.36s", "Please retry after 60 seconds", "wait 2 minutes".
  const [, delay] =
    /\b(?:(?:re)?try(?: again)? (?:in|after)|resets? (?:in|after)|wait(?: for)?) ((?:[\d.]+ ?[a-z]+ ?)+)/i.exec(
      words,
    ) ?? []
  return durationIn(delay) ?? durationIn(delays.find(nonEmptyString)) ?? quotedReset(metadata)
}

/** OpenRouter quotes the headers within the error. */
function quotedReset(metadata: unknown): number | undefined {
  const entries = Object.entries(objectOf(objectOf(metadata).headers))
  const quoted = entries.filter(([name]) => /^[\w-]+$/.test(name))
  return resetOf(new Headers(quoted.map(([name, value]) => [name, String(value).trim()])))
}

/** The kinds of limits, as the names of headers have them. */
const LIMITS = ['-requests', '-tokens', '-input-tokens', '-output-tokens', '']

/** The limit that is used up, if the server tells which, and when it is reset: "7.66s", "1m2s", or a time. */
function resetOf(headers: Headers): number | undefined {
  const limit = (kind: 'remaining' | 'reset', what: string) =>
    [`x-ratelimit-${kind}${what}`, `ratelimit-${kind}${what}`, `anthropic-ratelimit${what}-${kind}`]
      .map((name) => headers.get(name) ?? undefined)
      .find(Boolean)
  const usedUp = LIMITS.find((what) => Number(limit('remaining', what)) === 0)
  const reset = limit('reset', usedUp ?? '')
  const number = Number(reset ?? Number.NaN)
  if (Number.isNaN(number)) return durationIn(reset) ?? timeUntil(Date.parse(reset ?? ''))
  // Seconds, or a time in seconds or milliseconds.
  if (number < 1e9) return number * 1_000
  return timeUntil(number < 1e12 ? number * 1_000 : number)
}

const timeUntil = (time: number) =>
  Number.isNaN(time) ? undefined : Math.max(0, time - Date.now())

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function durationIn(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const parts = [
    ...text.matchAll(/(\d+(?:\.\d+)?) ?(ms|s|m|h|d)(?:ec\w*|in\w*|ours?|ays?)?(?![a-z])/gi),
  ]
  const milliseconds = parts.map(([, count, unit = '']) => {
    return Number(count) * (UNITS[unit.toLowerCase()] ?? 0)
  })
  return parts.length === 0 ? undefined : milliseconds.reduce((sum, each) => sum + each)
}
