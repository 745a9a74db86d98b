/** The marks in which models think: most in the first, and others, or by their prompts, in the rest. */
const THINKING = ['think', 'thinking', 'thought', 'reasoning', 'seed:think'].map((name) => ({
  begin: `<${name}>`,
  end: `</${name}>`,
}))
const END_OF_THINKING = '</think>'

interface Delta {
  text: string
  reasoning: string
}

/** The end of a thinking whose begin is not in the answer, but in the prompt that the template makes. */
const LONE_END = `\n${END_OF_THINKING}\n`
/** How models that think begin, in the words that they were trained on. */
const BEGINNINGS = [
  ...['okay, ', 'okay. ', 'okay so', 'ok, ', 'alright, ', 'alright so', 'hmm', 'wait, '],
  ...['let me ', "let's ", 'first, i ', 'we need ', 'i need to ', 'i should '],
  ...['the user ', 'the question ', 'the query ', 'thinking'],
  ...['嗯', '好的', '好，', '用户', '我需要'],
]

/** Models whose templates begin the thinking by themselves, by their names. */
const THINKERS =
  /r1\b|qwq|qwen-?3|think|reason|magistral|nemotron|glm-?(?:4\.[5-9]|[5-9])|minimax|kimi-k2|hunyuan|ernie|exaone|smollm-?3|marco-o1|skywork|openthinker|seed-oss/i

/** Whether answers of a model may begin within its thinking, as far as its name tells. */
export const isThinker = (model: string): boolean =>
  THINKERS.test(model) && !/instruct|coder|non-?think|no-?think/i.test(model)

/** The longest such thinking that is kept, as it may turn out to be the answer. */
const MAX_KEPT = 1_000_000

/**
 * Separates the thinking that a model writes before its answer, between `<think>` and `</think>` or similar marks. Some
 * servers leave out the first mark: where a model is known for that, or begins as if it thought, its answers begin as thinking, and
 * what has no end is text.
 */
export class ThinkingSplitter {
  #isOpen: boolean | undefined
  #phase: 'start' | 'thinking' | 'answer' = 'start'
  #held = ''
  /** Whether the space between the thinking and the answer is being skipped. */
  #isBetween = false
  #isMarked = false
  #endMark = END_OF_THINKING
  #hasLoneEnd = false
  /** The thinking without a mark. */
  #assumed = ''

  /** `isOpen` is undefined as long as it is not known whether answers of the model begin as thinking. */
  constructor({ isOpen }: { isOpen?: boolean | undefined } = {}) {
    this.#isOpen = isOpen
  }

  /** Whether the answer began as thinking without a mark; undefined if it does not tell. */
  get wasOpen(): boolean | undefined {
    const isUnended = this.#phase === 'thinking' && !this.#isMarked
    return this.#hasLoneEnd || (isUnended ? false : undefined)
  }

  /** Tells that the thinking comes apart from the text. */
  noteThinkingApart(): void {
    if (this.#phase === 'start') this.#isOpen = false
  }

  write(more: string): Delta {
    this.#held += more
    if (this.#phase === 'start') this.#begin()
    const reasoning = this.#phase === 'thinking' ? this.#takeThought() : ''
    if (!this.#isMarked) this.#assumed += reasoning.slice(0, MAX_KEPT - this.#assumed.length)
    return { reasoning, text: this.#phase === 'answer' ? this.#takeText() : '' }
  }

  end(): Delta {
    const rest = this.#take(this.#held.length)
    if (this.#phase !== 'thinking') return { text: rest, reasoning: '' }
    return this.#isMarked
      ? { text: '', reasoning: rest }
      : { text: this.#assumed + rest, reasoning: '' }
  }

  #begin(): void {
    const opening = this.#held.trimStart()
    const marks = THINKING.find(({ begin }) => opening.startsWith(begin))
    this.#isMarked = marks !== undefined
    if (marks) {
      this.#held = opening.slice(marks.begin.length)
      this.#endMark = marks.end
      this.#phase = 'thinking'
    } else if (!THINKING.some(({ begin }) => begin.startsWith(opening))) {
      const lower = opening.toLowerCase()
      const isAloud = BEGINNINGS.some((each) => lower.startsWith(each))
      const mayBecome = !isAloud && BEGINNINGS.some((each) => each.startsWith(lower))
      if (this.#isOpen === undefined && mayBecome) return
      this.#phase = (this.#isOpen ?? isAloud) ? 'thinking' : 'answer'
    }
  }

  #takeThought(): string {
    const end = this.#held.indexOf(this.#endMark)
    if (end === -1) return this.#takeAllBut(this.#endMark)
    const thought = this.#take(end)
    this.#take(this.#endMark.length)
    this.#phase = 'answer'
    this.#isBetween = true
    this.#hasLoneEnd ||= !this.#isMarked
    return thought
  }

  #takeText(): string {
    if (this.#isBetween) this.#held = this.#held.trimStart()
    this.#isBetween &&= this.#held === ''
    if (this.#isMarked || this.#hasLoneEnd) return this.#take(this.#held.length)
    const end = this.#held.indexOf(LONE_END)
    if (end === -1) return this.#takeAllBut(LONE_END)
    this.#hasLoneEnd = true
    this.#isBetween = true
    const before = this.#take(end)
    this.#take(LONE_END.length)
    return `${before}\n\n${this.#takeText()}`
  }

  /** All but what may be the beginning of the mark. */
  #takeAllBut(mark: string): string {
    return this.#take(this.#held.length - openEnd(this.#held, [mark]))
  }

  #take(length: number): string {
    const text = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return text
  }
}

/** How many characters at the end of a text may be the beginning of one of the marks. */
export function openEnd(text: string, marks: readonly string[]): number {
  let longest = 0
  for (const mark of marks) {
    const first = mark.charAt(0)
    let at = text.indexOf(first, text.length - mark.length + 1)
    while (at !== -1 && !mark.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
    if (at !== -1) longest = Math.max(longest, text.length - at)
  }
  return longest
}

/** Ends a text at the first of the stop sequences, which is no part of it, for protocols that take none. */
export class StopCutter {
  readonly #stop: readonly string[]
  #held = ''
  #isCut = false

  constructor(stop: readonly string[]) {
    this.#stop = stop
  }

  get isCut(): boolean {
    return this.#isCut
  }

  write(more: string): string {
    const stop = this.#stop
    if (stop.length === 0) return more
    if (this.#isCut) return ''
    const held = this.#held + more
    const places = stop.map((each) => held.indexOf(each)).filter((at) => at !== -1)
    this.#isCut = places.length > 0
    const length = this.#isCut ? Math.min(...places) : held.length - openEnd(held, stop)
    this.#held = this.#isCut ? '' : held.slice(length)
    return held.slice(0, length)
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    return rest
  }
}
