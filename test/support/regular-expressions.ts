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

/** UTF-16 code units of an attack, and the time that it may take: what is linear takes a hundredth of it. */
const ATTACK = 8_000
const MAX_MS = 50

/**
 * Whether an attack that was found takes long in V8, too, which knows more shortcuts than the checker does. What could
 * not be checked in time is taken for good.
 */
export function isSlow({ pattern, flags }: RegularExpression, diagnostics: Diagnostics): boolean {
  if (diagnostics.status !== 'vulnerable') return false
  const { pumps, suffix } = diagnostics.attack
  const each = ATTACK / pumps.length
  const text = pumps
    .map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(each / pump.length)))
    .join('')
  const expression = new RegExp(pattern, flags.replace('y', ''))
  const work = flags.includes('g') ? 'text.replace(expression, "")' : 'expression.exec(text)'
  const isStopped = () => {
    try {
      runInNewContext(work, { text: text + suffix, expression }, { timeout: MAX_MS })
      return false
    } catch {
      return true
    }
  }
  // A busy machine stops what is quick, too, but not each time.
  return isStopped() && isStopped() && isStopped()
}
