import { isObject, objectOf, parseJson } from '@agent-server/lib/text/json.ts'

const THINK = '<think>'
const END_OF_THINKING = '</think>'

interface Said {
  text: string
  reasoning: string
}

/** The end of a thinking whose begin is not in the answer, but in the prompt that the template makes. */
const LONE_END = `\n${END_OF_THINKING}\n`
/** The longest such thinking that is kept, as it may turn out to be the answer. */
const MAX_KEPT = 1_000_000

/**
 * Separates the thinking that a model writes before its answer, between `<think>` and `</think>`. Some servers leave
 * out the first mark: where a model is known for that, its answers begin as thinking, and what has no end is text.
 */
export function createThinkingSplitter({ isOpen = false } = {}) {
  let phase: 'start' | 'thinking' | 'answer' = 'start'
  let held = ''
  /** Whether the space between the thinking and the answer is being skipped. */
  let isBetween = false
  let isMarked = false
  let hasLoneEnd = false
  /** The thinking without a mark. */
  let assumed = ''

  const take = (length: number): string => {
    const text = held.slice(0, length)
    held = held.slice(length)
    return text
  }
  const begin = (): void => {
    const begun = held.trimStart()
    isMarked = begun.startsWith(THINK)
    if (isMarked) held = begun.slice(THINK.length)
    if (isMarked || !THINK.startsWith(begun)) phase = isMarked || isOpen ? 'thinking' : 'answer'
  }
  const takeThought = (): string => {
    const end = held.indexOf(END_OF_THINKING)
    if (end === -1) return take(held.length - openEnd(held, [END_OF_THINKING]))
    const thought = take(end)
    take(END_OF_THINKING.length)
    phase = 'answer'
    isBetween = true
    hasLoneEnd ||= !isMarked
    return thought
  }
  const takeText = (): string => {
    if (isBetween) held = held.trimStart()
    isBetween &&= held === ''
    if (isMarked || hasLoneEnd) return take(held.length)
    const end = held.indexOf(LONE_END)
    if (end === -1) return take(held.length - openEnd(held, [LONE_END]))
    hasLoneEnd = true
    isBetween = true
    const before = take(end)
    take(LONE_END.length)
    return `${before}\n\n${takeText()}`
  }

  return {
    write(more: string): Said {
      held += more
      if (phase === 'start') begin()
      const reasoning = phase === 'thinking' ? takeThought() : ''
      if (!isMarked) assumed += reasoning.slice(0, MAX_KEPT - assumed.length)
      return { reasoning, text: phase === 'answer' ? takeText() : '' }
    },
    end(): Said {
      const rest = take(held.length)
      if (phase !== 'thinking') return { text: rest, reasoning: '' }
      return isMarked ? { text: '', reasoning: rest } : { text: assumed + rest, reasoning: '' }
    },
    /** Whether the answer began as thinking without a mark; undefined if it does not tell. */
    get wasOpen(): boolean | undefined {
      return hasLoneEnd || (phase === 'thinking' && !isMarked ? false : undefined)
    },
  }
}

/** How many characters at the end of a text may be the beginning of one of the marks. */
function openEnd(text: string, marks: readonly string[]): number {
  const lengths = marks.flatMap((mark) =>
    Array.from({ length: mark.length - 1 }, (_, at) => at + 1).filter((length) =>
      text.endsWith(mark.slice(0, length)),
    ),
  )
  return Math.max(0, ...lengths)
}

/** Ends a text at the first of the stop sequences, which is no part of it, for protocols that take none. */
export function createStopCutter(stop: readonly string[]) {
  let held = ''
  let isCut = false
  return {
    write(more: string): string {
      if (stop.length === 0) return more
      if (isCut) return ''
      held += more
      const places = stop.map((each) => held.indexOf(each)).filter((at) => at !== -1)
      isCut = places.length > 0
      const length = isCut ? Math.min(...places) : held.length - openEnd(held, stop)
      const text = held.slice(0, length)
      held = isCut ? '' : held.slice(length)
      return text
    },
    end(): string {
      const rest = held
      held = ''
      return rest
    },
    get isCut() {
      return isCut
    },
  }
}

interface WrittenCall {
  name: string
  arguments: string
}

/** How Llama and Qwen3-Coder begin a call: `<function=name>{…}</function>`, or with a `<parameter=…>` for each. */
const FUNCTION = '<function='
const END_OF_FUNCTION = '</function>'
/** What may stand around a call: the marks of Qwen and Hermes, of Mistral, and a fence. */
const CALL_MARKS = ['<tool_call>', FUNCTION, '[TOOL_CALLS]', '```']
/** Where a call may begin: at a mark, or at the beginning of a line with an object or a list of them. */
const OPENING = /<tool_call>|\[TOOL_CALLS\]|(?<=\n)[ \t]*(?:```|<function=|\[?\s*\{)/
const BEFORE_OBJECT = /^\s*(?:<tool_call>|\[TOOL_CALLS\]|```[a-z_]*)?\s*\[?\s*/
const AFTER_OBJECT = /^(?:[,;]|\]?\s*(?:<\/tool_call>|```)?)\s*/
const CLOSINGS = ['</tool_call>', '```', ']', ',', ';']
const CALL_KEY = /^\{\s*"(?:name|function|tool|type|id|arguments|parameters)"\s*:/
/** The longest beginning that may still become the key of a call. */
const UNDECIDED = 24
/** Longer ones are shown as text. */
const MAX_CALL = 100_000
/** What is looked through at once: each place where a call may begin costs as much as there is text. */
const PIECE = /.{1,1000}/gs

/**
 * Finds the tool calls that a model writes into its text, as small ones do: `{"name": …, "arguments": …}`, alone,
 * fenced or marked. Calls of an offered tool are taken out; so is what has the form of a call of another, which no
 * user should read as the answer. Any other text passes.
 */
export function createWrittenCalls(offered: ReadonlySet<string>) {
  const calls: WrittenCall[] = []
  let held = ''
  let isLineStart = true
  /** Whether what closes a call may still follow. */
  let isClosing = false
  let hasDropped = false
  /** The calls as they were written: text, if an answer follows them. */
  let written = ''

  const show = (length: number): string => {
    const text = held.slice(0, length)
    held = held.slice(length)
    if (/[^ \t]/.test(text)) isLineStart = /\n[ \t]*$/.test(text)
    return text
  }
  /** Skips what closes a call; returns whether all of it is there. */
  const close = (isEnd: boolean): boolean => {
    const rest = held.trimStart()
    if (!isEnd && CLOSINGS.some((mark) => mark.startsWith(rest))) return false
    const open = rest.replace(AFTER_OBJECT, '')
    written += held.slice(0, held.length - open.length)
    held = open
    isClosing = false
    isLineStart = true
    return true
  }
  /** What is left at the end is text, unless it is a call without its end. */
  const cutShort = (found: 'open' | 'cut'): string => {
    if (found === 'cut') held = ''
    hasDropped ||= found === 'cut'
    return show(held.length)
  }
  /** Takes calls back that text follows: who quotes a call, perhaps from a document, does not make it. */
  const asAnswer = (): string => {
    const text = written
    if (text !== '') [calls.length, hasDropped] = [0, false]
    written = ''
    return text
  }
  const takeCall = ({ call, end }: Found): void => {
    written += held.slice(0, end)
    held = held.slice(end)
    isClosing = true
    // Small models repeat a call until they are cut off.
    const isRepeated = calls.some(
      (one) => one.name === call.name && one.arguments === call.arguments,
    )
    if (offered.has(call.name) && !isRepeated) calls.push(call)
    hasDropped ||= !offered.has(call.name)
  }
  /** The text to show of what begins like a call; undefined to wait for more. */
  const readOpening = (isEnd: boolean): string | undefined => {
    const found = findCall(held)
    if (typeof found === 'number') return show(found)
    if (typeof found === 'string') return isEnd ? cutShort(found) : undefined
    takeCall(found)
    return ''
  }
  /** The next piece of text to show; undefined if there is none for now. */
  const next = (isEnd: boolean): string | undefined => {
    const found = OPENING.exec((isLineStart ? '\n' : ' ') + held)
    if (found?.index === 1) return readOpening(isEnd)
    if (found) return show(found.index - 1)
    const open = isEnd ? 0 : openEnd(held, CALL_MARKS)
    return show(held.length - open) || undefined
  }
  const read = (isEnd: boolean): string => {
    let shown = ''
    while (held !== '' && !(isClosing && !close(isEnd))) {
      const text = next(isEnd)
      if (text === undefined) break
      shown += text.trim() === '' ? text : asAnswer() + text
    }
    return shown
  }

  return {
    /** Takes the next text; returns what can be shown now. */
    write(more: string): string {
      if (offered.size === 0) return more
      return more.replaceAll(PIECE, (piece) => {
        held += piece
        return read(false)
      })
    },
    end: (): string => read(true),
    /** The calls of offered tools, in order. */
    calls,
    /** Whether something in the form of a call was neither called nor shown. */
    get hasDropped() {
      return hasDropped
    },
  }
}

interface Found {
  call: WrittenCall
  end: number
}

/**
 * Looks for a call at the beginning: its end, or how much is text instead; `open` if that cannot be told yet, `cut` if
 * it is one that has no end yet.
 */
function findCall(held: string): Found | number | 'open' | 'cut' {
  const [before = ''] = BEFORE_OBJECT.exec(held) ?? []
  const object = held.slice(before.length)
  if (object.startsWith(FUNCTION)) return findTagged(object, before.length)
  if (FUNCTION.startsWith(object)) return 'open'
  const isKeyOpen = object.length < UNDECIDED && object.startsWith('{') && !/"\s*:/.test(object)
  if (isKeyOpen) return 'open'
  if (!CALL_KEY.test(object)) return Math.max(before.length, 1)
  const length = lengthOfObject(object)
  if (length === undefined) return held.length > MAX_CALL ? held.length : 'cut'
  const call = toCall(parseJson(object.slice(0, length)))
  const end = before.length + length
  return call ? { call, end } : end
}

const TAGGED = /^<function=([\w.-]{1,64})>(.*?)<\/function>/s
const PARAMETER = /<parameter=([\w.-]{1,64})>\n?(.*?)\n?<\/parameter>/gs

/** The same for a call between tags, which stands after so many characters. */
function findTagged(text: string, before: number): Found | number | 'open' {
  const [whole, name, body = ''] = (text.includes(END_OF_FUNCTION) && TAGGED.exec(text)) || []
  if (whole === undefined || name === undefined) {
    const mayBegin = /^<function=[\w.-]{0,64}(?:>|$)/.test(text)
    if (text.length > MAX_CALL) return before + text.length
    return mayBegin ? 'open' : before + FUNCTION.length
  }
  const written = parseJson(body)
  const input = isObject(written) ? written : Object.fromEntries(parametersIn(body))
  const call = toCall(input) ?? { name, arguments: JSON.stringify(input) }
  return { call, end: before + whole.length }
}

/** The parameters by name: as JSON, other than strings, which are written as they are. */
function parametersIn(body: string): [string, unknown][] {
  return Array.from(body.matchAll(PARAMETER), ([, name = '', written = '']) => {
    const value = parseJson(written)
    return [name, value === undefined || typeof value === 'string' ? written : value]
  })
}

/** The length of the JSON object with which the text begins; undefined if it does not end. */
function lengthOfObject(text: string): number | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === '{') depth += 1
    if (token === '}') depth -= 1
    if (depth === 0) return index + 1
  }
  return undefined
}

function toCall(value: unknown): WrittenCall | undefined {
  const outer = objectOf(value)
  const inner = isObject(outer.function) ? outer.function : outer
  const name = [inner.name, outer.tool, outer.function].find((each) => typeof each === 'string')
  const input = inner.arguments ?? inner.parameters
  if (name === undefined || (typeof input !== 'string' && !isObject(input))) return undefined
  return { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }
}
