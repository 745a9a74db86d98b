import { createPattern } from './chunk-pattern.ts'
import { unreadable } from './failures.ts'

/** UTF-16 code units of the longest line, and of the data of one event. */
const MAX_EVENT = 8 * 2 ** 20
/** A carriage return at the very end may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/
const STREAM = { stream: true }

export interface ServerSentEvent {
  name: string
  data: string
  /** In place of `data`: the text of chunks that differ in nothing else from the one that was learned. */
  text?: string
}

export type EventParser = ReturnType<typeof createEventParser>

/** Takes server-sent events apart, from bytes that come in pieces. */
export function createEventParser() {
  const decoder = new TextDecoder()
  const pattern = createPattern()
  const lines = createLineReader()
  let open = ''

  /** Takes the whole lines off what is open, which has no carriage returns. */
  function takeLines(take: (event: ServerSentEvent) => void): void {
    const text = open
    let at = 0
    for (;;) {
      const known = lines.isBetweenEvents() ? pattern.read(text, at) : undefined
      if (known) take({ name: '', data: '', text: known.text })
      at = known?.end ?? at
      const end = text.indexOf('\n', at)
      if (end === -1) break
      lines.read(text.slice(at, end), take)
      at = end + 1
    }
    open = text.slice(at)
  }

  function takeAnyLines(take: (event: ServerSentEvent) => void): void {
    const whole = open.split(LINE_END)
    open = whole.pop() ?? ''
    for (const line of whole) lines.read(line, take)
  }

  return {
    /**
     * Gives `take` the events that end in these bytes, one after the other: what is learned of one holds for the next.
     * Throws UpstreamFailure where one is longer than is accepted, and what `take` throws.
     */
    read(bytes: Uint8Array, take: (event: ServerSentEvent) => void): void {
      const text = decoder.decode(bytes, STREAM)
      open += text
      // A long line in many pieces is looked through once.
      const hasLine = open.endsWith('\r', open.length - text.length) || /[\r\n]/.test(text)
      if (hasLine) (open.includes('\r') ? takeAnyLines : takeLines)(take)
      bound(open.length)
    },
    /** Reads chunks like this one, which was `data`, by their text alone from now on. */
    learn: pattern.learn,
  }
}

/** Puts lines together to events. */
function createLineReader() {
  let name = ''
  let data: string[] = []
  let size = 0

  function readField(field: string, value: string): void {
    if (field === 'event') name = value
    if (field !== 'data') return
    data.push(value)
    // The line end counts: empty lines are bounded, too.
    size += value.length + 1
    bound(size)
  }

  return {
    isBetweenEvents: () => name === '' && data.length === 0,
    /** Gives `take` the event that ends with this line, if any. */
    read(line: string, take: (event: ServerSentEvent) => void): void {
      if (line !== '') {
        const [field = '', value = ''] = splitField(line)
        readField(field, value)
        return
      }
      const event = { name, data: data.join('\n') }
      ;[name, data, size] = ['', [], 0]
      if (event.data !== '') take(event)
    },
  }
}

function splitField(line: string): string[] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line]
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)]
}

function bound(size: number): void {
  if (size > MAX_EVENT) throw unreadable('an event longer than is accepted')
}
