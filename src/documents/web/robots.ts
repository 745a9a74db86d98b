import { untilAborted } from '@agent-server/lib/abort.ts'
import { readStartOfText } from '@agent-server/lib/bounded-body.ts'
import type { GuardedFetch } from '@agent-server/lib/outbound/guarded-fetch.ts'

/** The name of this server in robots.txt files. */
export const PRODUCT = 'agent-server'

/** At least 500 KiB must be read: https://www.rfc-editor.org/rfc/rfc9309#section-2.5 */
const MAX_BYTES = 512 * 1024
/** Caching for up to a day is allowed: section 2.4. */
const KEPT_MS = 3_600_000
/** After a server error, robots.txt is fetched again sooner. */
const FAILURE_KEPT_MS = 300_000
const MAX_ORIGINS = 500
/** Roughly, the memory for the cached rules of all origins; and that of a rule besides its path. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024
const RULE_BYTES = 100

interface Rule {
  /** A path pattern, with `*` and a final `$`. */
  path: string
  isAllowed: boolean
}

type Rules = readonly Rule[]

const FORBIDDEN: Rules = [{ path: '/', isAllowed: false }]

interface Dependencies {
  fetch: GuardedFetch['fetch']
  /** Hosts whose robots.txt is ignored. */
  ignored: readonly string[]
}

/** What sites allow programs to fetch, according to https://www.rfc-editor.org/rfc/rfc9309 */
export function createRobots({ fetch, ignored }: Dependencies) {
  const cache = new Map<string, { rules: Promise<Rules>; until: number; bytes: number }>()

  const keep = (origin: string, rules: Promise<Rules>, milliseconds: number) => {
    cache.delete(origin)
    cache.set(origin, { rules, until: performance.now() + milliseconds, bytes: 0 })
    makeRoom()
  }

  const makeRoom = () => {
    let bytes = cache.values().reduce((sum, each) => sum + each.bytes, 0)
    for (const [origin, each] of cache) {
      if (cache.size <= MAX_ORIGINS && bytes <= MAX_CACHED_BYTES) return
      bytes -= each.bytes
      cache.delete(origin)
    }
  }

  /** Counts the rules of an origin, once they are loaded, towards the total limit. */
  const weigh = (origin: string, rules: Rules) => {
    const entry = cache.get(origin)
    if (entry) entry.bytes = rules.reduce((sum, { path }) => sum + path.length + RULE_BYTES, 0)
    makeRoom()
    return rules
  }

  /** A server error forbids everything, a missing file nothing: section 2.3.1. */
  const load = async (origin: string): Promise<Rules> => {
    try {
      const response = await fetch(`${origin}/robots.txt`)
      const { status } = response
      if (response.ok) {
        return weigh(origin, parseRobots((await readStartOfText(response, MAX_BYTES)).text))
      }
      await response.body?.cancel()
      if (status < 500) return []
    } catch (error) {
      cache.delete(origin)
      throw error
    }
    keep(origin, Promise.resolve(FORBIDDEN), FAILURE_KEPT_MS)
    return FORBIDDEN
  }

  return {
    /** Whether a URL may be fetched. Throws `OutboundError`, and the reason of `signal`. */
    async allows({ origin, hostname, pathname, search }: URL, signal: AbortSignal) {
      if (ignored.includes(hostname)) return true
      const cached = cache.get(origin)
      const isKnown = cached !== undefined && performance.now() < cached.until
      const rules = isKnown ? cached.rules : load(origin)
      if (!isKnown) keep(origin, rules, KEPT_MS)
      return isAllowed(await untilAborted(rules, signal), pathname + search)
    },
  }
}

const LINE = /^[ \t]*(user-agent|allow|disallow)[ \t]*:[ \t]*([^#\s]*)/gim

/** The rules of all groups that name this server or, if there are none, of those for all (`*`). */
export function parseRobots(text: string): Rules {
  const groups: { agents: string[]; rules: Rule[] }[] = []
  let group: (typeof groups)[number] = { agents: [], rules: [] }
  let isNaming = false
  for (const [, field = '', value = ''] of text.matchAll(LINE)) {
    const isName = field.toLowerCase() === 'user-agent'
    if (isName && !isNaming) {
      group = { agents: [], rules: [] }
      groups.push(group)
    }
    isNaming = isName
    if (isName) group.agents.push(value.toLowerCase().replace(/\/.*/, ''))
    else if (value !== '') {
      group.rules.push({
        path: alone(plainPath(value)),
        isAllowed: field.toLowerCase() === 'allow',
      })
    }
  }
  const groupsFor = (agent: string) => groups.filter(({ agents }) => agents.includes(agent))
  const ours = groupsFor(PRODUCT)
  return (ours.length > 0 ? ours : groupsFor('*')).flatMap(({ rules }) => rules)
}

/** The longest matching rule decides; if two are equally long, the one that allows. */
export function isAllowed(rules: Rules, path: string): boolean {
  const plain = plainPath(path)
  const [first] = rules
    .filter((rule) => matches(rule.path, plain))
    .toSorted((a, b) => b.path.length - a.path.length || Number(b.isAllowed) - Number(a.isAllowed))
  return first?.isAllowed ?? true
}

/** Never backtracks, so no pattern takes long. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$')
  const [start = '', ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(start)) return false
  let end = start.length
  const last = isWhole ? parts.pop() : undefined
  for (const part of parts) {
    const position = path.indexOf(part, end)
    if (position === -1) return false
    end = position + part.length
  }
  if (!isWhole) return true
  if (last === undefined) return end === path.length
  return path.length - last.length >= end && path.endsWith(last)
}

/** Copies the string: a slice would keep the whole text in memory. */
function alone(path: string): string {
  return Buffer.from(path, 'latin1').toString('latin1')
}

/** Normalizes the percent-encoding, so that equivalent paths are equal: section 2.2.2. */
function plainPath(path: string): string {
  return path
    .replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()))
    .replaceAll(/%[\da-f]{2}/gi, (code) => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return /[\w.~-]/.test(character) ? character : code.toUpperCase()
    })
}
