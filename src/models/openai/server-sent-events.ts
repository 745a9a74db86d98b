import { parseJson } from '../../lib/text/json.ts'
import { UpstreamFailure, unreadable } from './failures.ts'
import { objectOf } from './json.ts'

/** Maximum UTF-16 code units of a line and of the data of an event. */
const MAX_EVENT = 8 * 2 ** 20
/** Maximum size of an answer from a server that does not stream. */
const MAX_WHOLE_BYTES = 16 * 2 ** 20
/** A carriage return at the very end does not match: it may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/
const STREAM = { stream: true }

export interface ServerSentEvent {
  name: string
  data: string
  /** Replaces `data`: the text of one or more chunks that differ only in their text from the learned chunk. */
  text?: string
}

type Take = (event: ServerSentEvent) => void

interface BodyParser {
  read(bytes: Uint8Array, take: Take): void
  /** Passes to `take` what is complete only at the end of the body. */
  end?(take: Take): void
}

/**
 * Parses the body of an answer into events, from bytes that arrive in pieces, of which the first tell its format. The
 * whole answer of a server that does not stream is one event.
 */
export function createEventParser() {
  const pattern = createPattern()
  let body: BodyParser | undefined

  return {
    /**
     * Passes the events that end in these bytes to `take`, one by one: what is learned from one applies to the next.
     * Throws UpstreamFailure if the body is a web page or too long, and errors thrown by `take`.
     */
    read(bytes: Uint8Array, take: Take): void {
      body ??= createParserFor(bytes, pattern)
      body.read(bytes, take)
    },
    /** Passes to `take` what is complete only at the end of the body. */
    end: (take: Take): void => body?.end?.(take),
    /** From now on, parses only the text of chunks that are otherwise equal to `chunk`, which was read from `data`. */
    learn: pattern.learn,
  }
}

function createParserFor(first: Uint8Array, pattern: ChunkPattern): BodyParser {
  const start = new TextDecoder().decode(first).trimStart().charAt(0)
  if (start === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  return start === '{' ? createWholeParser() : createStreamParser(pattern)
}

function createWholeParser(): BodyParser {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    read(bytes) {
      parts.push(bytes)
      size += bytes.length
      if (size > MAX_WHOLE_BYTES) throw unreadable('an answer longer than is accepted')
    },
    end: (take) => take({ name: '', data: Buffer.concat(parts).toString() }),
  }
}

/** An event that is incomplete at the end of the body is dropped. */
function createStreamParser(pattern: ChunkPattern): BodyParser {
  const decoder = new TextDecoder()
  const lines = createLineReader()
  let open = ''

  /** Consumes the complete lines of `open`, which must not contain carriage returns. */
  function takeLines(take: Take): void {
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

  function takeAnyLines(take: Take): void {
    const whole = open.split(LINE_END)
    open = whole.pop() ?? ''
    for (const line of whole) lines.read(line, take)
  }

  return {
    read(bytes, take) {
      const text = decoder.decode(bytes, STREAM)
      open += text
      // Only new text is searched, so that a long line in many pieces is scanned once.
      const hasLine = open.endsWith('\r', open.length - text.length) || /[\r\n]/.test(text)
      if (hasLine) (open.includes('\r') ? takeAnyLines : takeLines)(take)
      bound(open.length)
    },
  }
}

/** Assembles lines into events. */
function createLineReader() {
  let name = ''
  let data: string[] = []
  let size = 0

  function readField(field: string, value: string): void {
    if (field === 'event') name = value
    if (field !== 'data') return
    data.push(value)
    // Count the line end, so that empty lines are limited as well.
    size += value.length + 1
    bound(size)
  }

  return {
    isBetweenEvents: () => name === '' && data.length === 0,
    /** Passes the event that ends with this line, if any, to `take`. */
    read(line: string, take: Take): void {
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

/** How servers write the key before the text of a chunk. */
const KEYS = ['"content":"', '"content": "']
const ESCAPED = /[\\\p{Cc}]/u

type ChunkPattern = ReturnType<typeof createPattern>

/** Nearly all chunks of an answer differ only in their text, so the rest of them is not parsed again. */
function createPattern() {
  let head = ''
  let tail = ''

  return {
    learn(data: string, chunk: unknown): void {
      const content = contentOf(chunk)
      if (content === undefined) return
      for (const key of KEYS) {
        const start = data.indexOf(key) + key.length
        if (start < key.length || data.indexOf(key, start) !== -1) continue
        const written = JSON.stringify(content).slice(1)
        if (!data.startsWith(written, start)) return
        head = `data: ${data.slice(0, start)}`
        tail = `${data.slice(start + written.length - 1)}\n\n`
      }
    },
    /** The joint text and the end of the chunks from `at` on that match the learned one; undefined if none does. */
    read(events: string, at: number): { text: string; end: number } | undefined {
      let text = ''
      let next = at
      while (head !== '' && events.startsWith(head, next)) {
        const start = next + head.length
        const end = endOfText(events, start)
        const said = events.startsWith(tail, end)
          ? readWritten(events.slice(start, end))
          : undefined
        if (said === undefined) break
        text += said
        next = end + tail.length
      }
      return next === at ? undefined : { text, end: next }
    },
  }
}

/** Decodes the inside of a JSON string; undefined if it is invalid. */
function readWritten(written: string): string | undefined {
  const said = ESCAPED.test(written) ? parseJson(`"${written}"`) : written
  return typeof said === 'string' ? said : undefined
}

/** The position of the quotation mark that closes a JSON string; the end of `json` if there is none. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start)
  while (end > start && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end === -1 ? json.length : end
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0
  while (json[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

/** The text of a chunk; undefined if it has other content that accumulates, such as tool calls or reasoning. */
function contentOf(chunk: unknown): string | undefined {
  const { choices } = objectOf(chunk)
  const [first] = Array.isArray(choices) ? choices : []
  const { content, role: _role, ...others } = objectOf(objectOf(first).delta)
  const isAlone = Object.values(others).every(isNothing)
  return isAlone && typeof content === 'string' && content !== '' ? content : undefined
}

function isNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
