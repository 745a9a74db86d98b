import { isObject, objectOf } from '@agent-server/lib/text/json.ts'
import type { Abilities } from './abilities.ts'
import type { UpstreamFailure } from './failures.ts'
import type { Fallback, Protocol } from './protocol.ts'
import { isTooLong } from './too-long.ts'

/**
 * Turns off the feature, or leaves out the field, that the server refused, for the rest of the process. Returns what was
 * refused, in words, if the request, built again, may be accepted. That happens at most once for each of them, since each
 * goes from the request.
 */
export function fallBack(
  { fallbacks, optional }: Pick<Protocol, 'fallbacks' | 'optional'>,
  abilities: Abilities,
  { facts }: UpstreamFailure,
  body: object,
): string | undefined {
  const { kind, status = 0 } = facts
  if (kind !== 'status' || status < 400 || status === 429) return undefined
  const learned = learnedFrom(fallbacks, facts, body)
  if (learned) {
    Object.assign(abilities, learned.change)
    if (learned.omit) abilities.omitted.add(learned.omit)
    return learned.report
  }
  const field = [400, 404, 422, 501].includes(status) && refusedField(facts, body, optional)
  if (!field) return undefined
  const omission = field.endsWith('effort') ? `${field}=${valueAt(body, field)}` : field
  abilities.omitted.add(omission)
  return `${omission}: it is left out`
}

function learnedFrom(
  fallbacks: readonly Fallback[],
  facts: UpstreamFailure['facts'],
  body: object,
): (Pick<Fallback, 'omit' | 'report'> & { change: Partial<Abilities> }) | undefined {
  for (const { concerns, refusal, instead = {}, omit, report } of fallbacks) {
    if (!refusal.test(facts.rawMessage ?? '') || !concerns({ ...body })) continue
    const change = typeof instead === 'function' ? instead(facts, { ...body }) : instead
    if (change) return { change, report, ...(omit && { omit }) }
  }
  return undefined
}

/** The body without what the server has refused. */
export function withoutOmitted<Body extends object>(body: Body, { omitted }: Abilities): Body {
  let reduced: object = body
  for (const omission of omitted) {
    const [path = '', value] = omission.split('=')
    const isSent = has(reduced, path.split('.'))
    if (isSent && (value === undefined || valueAt(reduced, path) === value)) {
      reduced = without(reduced, path.split('.'))
    }
  }
  // Only fields that the protocol declares optional are ever left out.
  return reduced as Body
}

function without(value: object, [name = '', ...rest]: readonly string[]): object {
  const entries: [string, unknown][] = Object.entries(value)
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== name))
  const entriesLeft = entries.map(([key, inner]): [string, unknown] =>
    key === name && isObject(inner) ? [key, without(inner, rest)] : [key, inner],
  )
  // An object of which nothing is left is no longer sent.
  const isLeft = ([key, inner]: [string, unknown]) =>
    key !== name || !isObject(inner) || Object.keys(inner).length > 0
  return Object.fromEntries(entriesLeft.filter(isLeft))
}

function valueAt(body: object, path: string): string {
  let value: unknown = body
  for (const name of path.split('.')) value = objectOf(value)[name]
  return String(value)
}

/** How servers begin to name a field that they do not take, or not with this value. */
const NAMING = [
  'un(?:supported|known|recogni[sz]ed|expected|permitted)',
  'not (?:supported|permitted|allowed|recogni[sz]ed|available|valid|enabled)',
  '(?:does|do|is|are)(?:n.t| not) (?:support|accept|allow|valid|available)',
  'extra (?:fields|inputs)',
  'invalid',
  'deprecated',
  'no longer',
  'only (?:supported|the default|\\w+ is (?:supported|allowed))',
  'no endpoints found that support',
  'input should be',
  'incompatible',
  'can(?:.t|not)',
  'may only be',
  'must be (?:set to|one of|unset|omitted|verified)',
]
const REFUSES_FIELD = new RegExp(NAMING.join('|'), 'i')
/** The codes for it, whatever the language of the words. */
const REASON = /^(?:unsupported|unknown|invalid)_(?:value|param)/i
/** Whatever else is said of a field is a refusal, but not what bounds its value: that is for the client to mend. */
const BOUNDS =
  /\b(?:between|at (?:most|least)|(?:less|greater|more|larger|smaller|fewer) than|too \w+|maximum|minimum|exceeds?|range)\b|[<>≤≥]/i
/** Names of fields that are words of any sentence as well. */
const ORDINARY = /^(?:stop|include|store|reasoning|thinking)$/

/** The field of the body, as a path, that a refusal is about, if the request can do without it. */
function refusedField(
  facts: UpstreamFailure['facts'],
  body: object,
  optional: ReadonlySet<string>,
): string | undefined {
  const { param, reason = '', rawMessage = '' } = facts
  const isRefusal = REFUSES_FIELD.test(rawMessage) || REASON.test(reason)
  if (!isRefusal && (BOUNDS.test(rawMessage) || isTooLong(facts))) return undefined
  const sentPaths = [...optional].filter((path) => has(body, path.split('.')))
  // Deeper paths first: `reasoning.summary` rather than `reasoning`.
  const deepest = sentPaths.toSorted(
    (one, other) => other.split('.').length - one.split('.').length,
  )
  const named =
    deepest.find((path) => path === param) ??
    deepest.find((path) => isNamed(path, rawMessage) && (isRefusal || !ORDINARY.test(path)))
  if (named || !isRefusal) return named
  return (
    deepest.find((path) => param?.startsWith(`${path}.`)) ??
    deepest.find((path) => OTHER_NAMES[path]?.test(rawMessage)) ??
    deepest.find((path) => path.includes('.') && isNamed(path.replace(/^.*\./, ''), rawMessage))
  )
}

function has(value: unknown, [name = '', ...rest]: readonly string[]): boolean {
  const inner = objectOf(value)[name]
  return inner !== undefined && (rest.length === 0 || has(inner, rest))
}

/** Whether the words have the field's name, or its path, as a word of its own; xAI writes it in camel case. */
function isNamed(path: string, words: string): boolean {
  const camelCase = path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const names = [path, camelCase].map((name) => name.replaceAll('.', '[.\\]\\[\'"]{1,4}'))
  return new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`).test(words)
}

const THINKING = /\bthink(?:ing)?\b/i
/** What else servers call a field: Vertex, Ollama. */
const OTHER_NAMES: Record<string, RegExp> = {
  stop: /\bstop[_ ]?sequences\b/i,
  reasoning_effort: THINKING,
  'reasoning.effort': THINKING,
}
