import { isObject, objectOf } from '@agent-server/lib/text/json.ts'
import type { Abilities } from './abilities.ts'
import type { UpstreamFailure } from './failures.ts'
import type { Fallback, Protocol } from './protocol.ts'
import { isTooLong } from './too-long.ts'

/** The statuses with which servers refuse a field; frameworks of Python answer an unknown one with 500. */
const NAMES_FIELDS = [400, 404, 416, 422, 500, 501]

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
  const field = NAMES_FIELDS.includes(status) && refusedField(facts, body, optional)
  if (!field) return withoutSampling(facts, abilities, body)
  const omission = field.endsWith('effort') ? `${field}=${valueAt(body, field)}` : field
  abilities.omitted.add(omission)
  return `${omission}: it is left out`
}

/** What a request can do without, and many models do not take. */
const SAMPLING = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'reasoning_effort',
  'reasoning.effort',
  'output_config.effort',
]
/** Refusals that name nothing: "Upstream error: 400", "Request contains an invalid argument." */
const NAMELESS =
  /^\W*(?:(?:upstream|provider) (?:returned )?(?:an )?error(?:: ?\d+)?|(?:(?:request contains|client specified) an )?invalid (?:argument|request|param(?:eter)?s?)|bad request|param incorrect|null)?\W*$/i

/** Leaves out how the answer is to be sampled where a refusal names nothing; brings it back if that was not the cause. */
function withoutSampling(
  { status = 0, rawMessage = '' }: UpstreamFailure['facts'],
  { guessed, omitted }: Abilities,
  body: object,
): string | undefined {
  if (![400, 422].includes(status) || !NAMELESS.test(rawMessage)) return undefined
  const sent = SAMPLING.filter((path) => has(body, path.split('.')))
  if (sent.length === 0) {
    for (const path of guessed) omitted.delete(path)
    guessed.clear()
    return undefined
  }
  for (const path of sent) {
    guessed.add(path)
    omitted.add(path)
  }
  return `something that it does not name: ${sent.join(', ')} left out`
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
  '(?:restricted|limited) (?:to|for)',
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

/** Whether the words have the field's name, or its path, as a word of its own; xAI writes it in camel case, as one. */
function isNamed(path: string, words: string): boolean {
  const camelCase = (name: string) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const oneWord = path.replaceAll('.', '_')
  const names = [path, camelCase(path), oneWord, camelCase(oneWord)].map((name) =>
    name.replaceAll('.', '[.\\]\\[\'"]{1,4}'),
  )
  return new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`).test(words)
}

const THINKING = /(?<![a-z])think(?:ing)?\b|\breasoning\b/i
const PENALTY = /\bpenalt(?:y|ies)\b/i
/** What else servers call a field: Vertex, Gemini, Scaleway, Qwen, Ollama, Mistral. */
const OTHER_NAMES: Record<string, RegExp> = {
  stop: /\bstop[_ ]?sequences\b/i,
  presence_penalty: PENALTY,
  frequency_penalty: PENALTY,
  max_tokens: /\bmax_(?:completion|new|output)_tokens\b/,
  reasoning_effort: THINKING,
  'reasoning.effort': THINKING,
}
