import { isObject, parseJson } from '@agent-server/lib/text/json.ts'
import { failureInStream, UpstreamFailure, unreadable } from './failures.ts'

export interface ServerSentEvent {
  name?: string | undefined
  data: string
}

/** Maximum UTF-16 code units of an event. */
const MAX_EVENT = 4 * 2 ** 20
/** The same of an answer from a server that does not stream. */
const MAX_WHOLE = 16 * 2 ** 20
const STREAM = { stream: true }
const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r']
/** How much of a blank line may stand in an earlier piece. */
const MAX_SEAM = 2

/**
 * Reads the body of an answer: server-sent events of bounded length, in whatever form servers write them. The answer of
 * a server that does not stream is one event. Throws UpstreamFailure for a web page and for what is too long.
 */
export class EventReader {
  readonly #decoder = new TextDecoder()
  #isWhole: boolean | undefined
  /** The pieces that have no end yet, their length, and how they end. */
  #open: string[] = []
  #length = 0
  #tail = ''

  /** Takes the next bytes; returns the events that end in them. */
  read(bytes: Uint8Array): ServerSentEvent[] {
    const text = this.#decoder.decode(bytes, STREAM)
    this.#length += text.length
    // Blanks before the first event say nothing.
    if (this.#isWhole === undefined && text.trim() === '') return this.#wait('')
    this.#open.push(text)
    this.#isWhole ??= isWholeAnswer(text)
    const end = this.#isWhole ? 0 : afterBlankLine(this.#tail, text)
    if (end === 0) return this.#wait(text)
    const events = this.#open.join('')
    const rest = text.slice(end)
    this.#open = rest === '' ? [] : [rest]
    this.#length = rest.length
    this.#tail = rest.slice(-MAX_SEAM)
    return eventsIn(events.slice(0, events.length - rest.length))
  }

  /** The events that end with the body. */
  end(): ServerSentEvent[] {
    const text = this.#open.join('') + this.#decoder.decode()
    return this.#isWhole ? wholeAnswer(text) : eventsIn(text)
  }

  #wait(text: string): [] {
    if (this.#length > (this.#isWhole ? MAX_WHOLE : MAX_EVENT)) {
      throw unreadable('an event or an answer longer than is accepted')
    }
    this.#tail = (this.#tail + text).slice(-MAX_SEAM)
    return []
  }
}

/** Whether a body is one whole answer, as its first character tells. Throws UpstreamFailure for a web page. */
function isWholeAnswer(begin: string): boolean {
  const first = begin.trimStart().charAt(0)
  if (first === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  return first === '{' || first === '['
}

/** The end of the last blank line, which may begin in the previous piece; 0 if there is none. */
function afterBlankLine(tail: string, text: string): number {
  if (text.endsWith('\n\n')) return text.length
  const seam = tail + text
  const ends = BLANK_LINES.map((line) => {
    const at = seam.lastIndexOf(line)
    return at === -1 ? 0 : at + line.length - tail.length
  })
  return Math.max(...ends)
}

/** The answer of a server that does not stream, or that writes events as a list or as lines of JSON. */
function wholeAnswer(text: string): ServerSentEvent[] {
  const answer = parseJson(text) ?? text.trim().split(/\r?\n/).map(parseJson)
  const events = Array.isArray(answer) ? answer : [answer]
  if (events.includes(undefined)) throw unreadable('the answer is not JSON')
  return events.map((event) => ({ data: JSON.stringify(event) }))
}

/** How almost all events are written. */
const PLAIN = 'data: {'

function eventsIn(text: string): ServerSentEvent[] {
  return text.split('\n\n').flatMap((block) => {
    if (block === '') return []
    const isPlain = block.startsWith(PLAIN) && !/[\r\n]/.test(block)
    return isPlain ? { data: block.slice(PLAIN.length - 1) } : oddEvents(block)
  })
}

/** The events of other blocks: some servers leave out the blank line between two events. */
function oddEvents(block: string): ServerSentEvent[] {
  const blocks = block.replaceAll(/\r\n?/g, '\n').split(/\n{2,}|\n(?=event:)/)
  return blocks.flatMap((each) => {
    // Gemini breaks off with an error in several lines, outside of any event.
    if (each.startsWith('{') && parseJson(each) !== undefined) return { data: each }
    const [, name] = /^event:[ \t]*(.*)$/m.exec(each) ?? []
    const events = each.split('\n').flatMap((line) => eventOn(line, name?.trim()))
    if (KEPT_ALIVE.test(name ?? '')) return events.filter(({ data }) => isEnd(data) || isPart(data))
    const isOne = events.some(({ data }) => !isEnd(data) && parseJson(data) === undefined)
    if (!isOne) return events
    return { name: events[0]?.name, data: events.map(({ data }) => data).join('\n') }
  })
}

function eventOn(line: string, name: string | undefined): ServerSentEvent[] {
  if (line.startsWith('{')) return [{ name, data: line }]
  const [, field, data = ''] = /^(data|error):\s?(.*)$/s.exec(line) ?? []
  // llama.cpp reports an error in a field of its own.
  if (field === 'error') return [{ name: 'error', data }]
  return field === undefined || isFiller(data) ? [] : [{ name, data }]
}

/** Events that only keep a connection open, unless a part of an answer stands beside them. */
const KEPT_ALIVE = /^\s*(?:ping|heartbeat|keep-?alive)\s*$/i

/** Whether the data is a part of an answer in any protocol, or an error. */
function isPart(data: string): boolean {
  const value = parseJson(data)
  return isObject(value) && ['choices', 'type', 'error'].some((field) => field in value)
}

/** Data that says nothing: some gateways pass the comments of servers on as data. */
const isFiller = (data: string) => /^\s*(?::|$)/.test(data)

/** Whether the data is the mark of the end. */
export const isEnd = (data: string) => data.trim() === '[DONE]'

/** The JSON of an event. Throws UpstreamFailure if it is none, or reports an error. */
export function jsonOf({ name, data }: ServerSentEvent): unknown {
  const value = parseJson(data)
  const isFailed = name === 'error' || (isObject(value) && value.error)
  if (isFailed) throw failureInStream(value ?? data)
  if (value === undefined) throw unreadable(`an event that is not JSON: ${data.slice(0, 200)}`)
  // Some gateways name the event beside the data alone.
  return name && isObject(value) && !('type' in value) ? { type: name, ...value } : value
}
