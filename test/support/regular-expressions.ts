import { runInNewContext } from 'node:vm'
import type { Diagnostics } from 'recheck'
import { z } from 'zod'
import { nodesOf, sourceFiles } from './source-tree.ts'

interface RegularExpression {
  path: string
  pattern: string
  flags: string
}

const SOURCE = /^(?:src|packages\/[\w-]+\/src)\//
const Literal = z.looseObject({ regex: z.object({ pattern: z.string(), flags: z.string() }) })

/**
 * Every regular expression that stands as such in the sources of the server and its packages, outside `bounded`, each
 * once.
 */
export function regularExpressions(bounded: readonly string[]): RegularExpression[] {
  const expressions = new Map<string, RegularExpression>()
  const files = [...sourceFiles('src'), ...sourceFiles('packages')]
  for (const { path, text } of files) {
    if (!SOURCE.test(path) || bounded.some((place) => path.startsWith(place))) continue
    for (const node of nodesOf(text)) {
      const { data } = Literal.safeParse(node)
      if (!data) continue
      expressions.set(`/${data.regex.pattern}/${data.regex.flags}`, { path, ...data.regex })
    }
  }
  return [...expressions.values()]
}

/** UTF-16 code units of an attack, and how many times as long the longer one is. */
const ATTACK = 8_000
const LONGER = 8
/** What is linear takes 8 times as long on the longer attack, what is quadratic 64 times. */
const MAX_GROWTH = 20
/** Milliseconds of processor time below which the growth tells nothing, and of time after which the longer attack ends. */
const QUICK_MS = 10
const MAX_MS = 2_000

/**
 * Whether the time of an attack that was found grows faster than its length in V8, too, which knows more shortcuts than
 * the checker does. What could not be checked in time is taken for good.
 */
export function isSlow({ pattern, flags }: RegularExpression, diagnostics: Diagnostics): boolean {
  if (diagnostics.status !== 'vulnerable') return false
  const { pumps, suffix } = diagnostics.attack
  const expression = new RegExp(pattern, flags.replace('y', ''))
  const timeOf = (length: number) => {
    const each = length / pumps.length
    const text = pumps.map(
      ({ prefix, pump }) => prefix + pump.repeat(Math.ceil(each / pump.length)),
    )
    return processorTime(expression, text.join('') + suffix)
  }
  const longer = timeOf(ATTACK * LONGER)
  return longer > QUICK_MS && longer > MAX_GROWTH * timeOf(ATTACK)
}

/** Milliseconds of this thread's processor time, of which other programs of a busy machine take nothing: the least of three. */
function processorTime(expression: RegExp, text: string): number {
  const work = expression.global ? 'text.replace(expression, "")' : 'expression.exec(text)'
  const times = Array.from({ length: 3 }, () => {
    const start = process.threadCpuUsage()
    try {
      runInNewContext(work, { text, expression }, { timeout: MAX_MS })
    } catch {
      return Number.POSITIVE_INFINITY
    }
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}
