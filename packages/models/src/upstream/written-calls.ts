import { isObject, objectOf, parseJson } from '@agent-server/lib/text/json.ts'
import { openEnd } from './answer-text.ts'

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
const MAX_PIECE = 1_000

/**
 * Finds the tool calls that a model writes into its text, as small ones do: `{"name": …, "arguments": …}`, alone,
 * fenced or marked. Calls of an offered tool are taken out; so is what has the form of a call of another, which no
 * user should read as the answer. Any other text passes.
 */
export class WrittenCalls {
  readonly #offered: ReadonlySet<string>
  readonly #calls: WrittenCall[] = []
  #held = ''
  /** How much must be held for an open call to be looked through again: an eighth more, or each piece would cost the whole. */
  #lookAt = 0
  #isLineStart = true
  /** Whether what closes a call may still follow. */
  #isClosing = false
  #hasDropped = false
  /** The calls as they were written: text, if an answer follows them. */
  #written = ''

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered
  }

  /** The calls of offered tools, in order. */
  get calls(): readonly WrittenCall[] {
    return this.#calls
  }

  /** Whether something in the form of a call was neither called nor shown. */
  get hasDropped(): boolean {
    return this.#hasDropped
  }

  /** Takes the next text; returns what can be shown now. */
  write(more: string): string {
    if (this.#offered.size === 0) return more
    let shown = ''
    for (let at = 0; at < more.length; at += MAX_PIECE) {
      this.#held += more.slice(at, at + MAX_PIECE)
      shown += this.#read(false)
    }
    return shown
  }

  end(): string {
    return this.#read(true)
  }

  #read(isEnd: boolean): string {
    let shown = ''
    while (this.#held !== '' && !(this.#isClosing && !this.#close(isEnd))) {
      const text = this.#next(isEnd)
      if (text === undefined) break
      shown += text.trim() === '' ? text : this.#asAnswer() + text
    }
    return shown
  }

  /** The next piece of text to show; undefined if there is none for now. */
  #next(isEnd: boolean): string | undefined {
    const opening = OPENING.exec((this.#isLineStart ? '\n' : ' ') + this.#held)
    if (opening?.index === 1) return this.#readOpening(isEnd)
    if (opening) return this.#show(opening.index - 1)
    const open = isEnd ? 0 : openEnd(this.#held, CALL_MARKS)
    return this.#show(this.#held.length - open) || undefined
  }

  /** The text to show of what begins like a call; undefined to wait for more. */
  #readOpening(isEnd: boolean): string | undefined {
    if (!isEnd && this.#held.length < this.#lookAt) return undefined
    const call = findCall(this.#held)
    const isOpen = typeof call === 'string'
    this.#lookAt = isOpen ? this.#held.length * 1.125 : 0
    if (isOpen) return isEnd ? this.#cutShort(call) : undefined
    if (typeof call === 'number') return this.#show(call)
    this.#takeCall(call)
    return ''
  }

  #takeCall({ call, end }: CallMatch): void {
    const calls = this.#calls
    this.#written += this.#held.slice(0, end)
    this.#held = this.#held.slice(end)
    this.#isClosing = true
    // Small models repeat a call until they are cut off.
    const isRepeated = calls.some(
      (one) => one.name === call.name && one.arguments === call.arguments,
    )
    const isOffered = this.#offered.has(call.name)
    if (isOffered && !isRepeated) calls.push(call)
    this.#hasDropped ||= !isOffered
  }

  /** Skips what closes a call; returns whether all of it is there. */
  #close(isEnd: boolean): boolean {
    const rest = this.#held.trimStart()
    if (!isEnd && CLOSINGS.some((mark) => mark.startsWith(rest))) return false
    const open = rest.replace(AFTER_OBJECT, '')
    this.#written += this.#held.slice(0, this.#held.length - open.length)
    this.#held = open
    this.#isClosing = false
    this.#isLineStart = true
    return true
  }

  /** What is left at the end is text, unless it is a call without its end. */
  #cutShort(found: 'open' | 'cut'): string {
    if (found === 'cut') this.#held = ''
    this.#hasDropped ||= found === 'cut'
    return this.#show(this.#held.length)
  }

  /** Takes calls back that text follows: who quotes a call, perhaps from a document, does not make it. */
  #asAnswer(): string {
    const text = this.#written
    if (text !== '') {
      this.#calls.length = 0
      this.#hasDropped = false
    }
    this.#written = ''
    return text
  }

  #show(length: number): string {
    const text = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    if (/[^ \t]/.test(text)) this.#isLineStart = /\n[ \t]*$/.test(text)
    return text
  }
}

interface CallMatch {
  call: WrittenCall
  end: number
}

/**
 * Looks for a call at the beginning: its end, or how much is text instead; `open` if that cannot be told yet, `cut` if
 * it is one that has no end yet.
 */
function findCall(held: string): CallMatch | number | 'open' | 'cut' {
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
function findTagged(text: string, before: number): CallMatch | number | 'open' {
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

/** A string, which may be cut off, or a brace: what never fails is never looked at twice. */
const JSON_TOKEN = /"(?:[^"\\]|\\.?)*(?:"|$)|[{}]/gs

/** The length of the JSON object with which the text begins; undefined if it does not end. */
function lengthOfObject(text: string): number | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
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
