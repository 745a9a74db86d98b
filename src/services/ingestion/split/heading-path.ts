const SEPARATOR = ' > '
/** With six levels at most, this bounds the whole path. */
const MAX_STEP = 120

export interface HeadingStep {
  level: number
  title: string
}

/** The headings that stand above a place in a text. */
interface HeadingPath {
  enter(level: number, title: string): void
  /** Outermost first; empty above the first heading. */
  current(): string
  steps(): HeadingStep[]
}

/** Begins below `above`. */
export function createHeadingPath(above: readonly HeadingStep[] = []): HeadingPath {
  const steps = [...above]
  let current = joined(steps)
  return {
    enter(level, title) {
      while ((steps.at(-1)?.level ?? 0) >= level) steps.pop()
      const plain = toPlainTitle(title)
      if (plain) steps.push({ level, title: plain })
      current = joined(steps)
    },
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
  return cutAtCharacter(plain, MAX_STEP)
}

function cutAtCharacter(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff
  return text.slice(0, isHighSurrogate ? length - 1 : length).trimEnd()
}
