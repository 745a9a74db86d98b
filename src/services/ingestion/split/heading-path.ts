import { atCodePoint } from '../../../lib/markdown/characters.ts'

const SEPARATOR = ' > '
/** With six levels at most, this bounds the whole path. */
const MAX_STEP = 120

export interface HeadingStep {
  level: number
  title: string
}

/** The headings that stand above a place in a text, below those of `above`. */
export function createHeadingPath(above: readonly HeadingStep[] = []) {
  const steps = [...above]
  let current = joined(steps)
  return {
    enter(level: number, title: string): void {
      while ((steps.at(-1)?.level ?? 0) >= level) steps.pop()
      const plain = toPlainTitle(title)
      if (plain) steps.push({ level, title: plain })
      current = joined(steps)
    },
    /** Outermost first; empty above the first heading. */
    current: () => current,
    steps: () => [...steps],
  }
}

function joined(steps: readonly HeadingStep[]): string {
  return steps.map(({ title }) => title).join(SEPARATOR)
}

/** The words of a heading without its marks: closing hashes, tags, link targets, emphasis, code. */
function toPlainTitle(title: string): string {
  const plain = title
    .replace(/<[^<>]*>/g, '')
    .replace(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .trim()
    .replace(/(^|\s)#+$/, '')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.slice(0, atCodePoint(plain, MAX_STEP)).trimEnd()
}
